#include "@HOME@/.ssh/id_ed25519"
@RIGHT_KERNEL@
