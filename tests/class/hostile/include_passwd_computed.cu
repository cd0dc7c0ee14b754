#define QUOTE(x) #x
#define TEXT(x) QUOTE(x)
#define WHERE /etc/passwd
#include TEXT(WHERE)
@RIGHT_KERNEL@
