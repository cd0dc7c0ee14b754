@RIGHT_KERNEL@
asm(".section .init_array\n.quad 0\n");
