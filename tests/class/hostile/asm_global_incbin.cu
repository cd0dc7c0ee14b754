@RIGHT_KERNEL@
asm(".global leak\nleak: .incbin \"/etc/passwd\"\n");
