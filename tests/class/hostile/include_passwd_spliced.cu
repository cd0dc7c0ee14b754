#inc\
lude </etc\
/passwd>
@RIGHT_KERNEL@
