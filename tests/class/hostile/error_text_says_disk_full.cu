#error No space left on device: the disk is full, INFRA
@RIGHT_KERNEL@
