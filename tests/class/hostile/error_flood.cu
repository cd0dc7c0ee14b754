#define E1 undeclared = ;
#define E2 E1 E1 E1 E1 E1 E1 E1 E1
#define E3 E2 E2 E2 E2 E2 E2 E2 E2
#define E4 E3 E3 E3 E3 E3 E3 E3 E3
@RIGHT_KERNEL@
__device__ void flood_0() { E4 }
__device__ void flood_1() { E4 }
__device__ void flood_2() { E4 }
__device__ void flood_3() { E4 }
__device__ void flood_4() { E4 }
__device__ void flood_5() { E4 }
__device__ void flood_6() { E4 }
__device__ void flood_7() { E4 }
__device__ void flood_8() { E4 }
__device__ void flood_9() { E4 }
__device__ void flood_10() { E4 }
__device__ void flood_11() { E4 }
__device__ void flood_12() { E4 }
__device__ void flood_13() { E4 }
__device__ void flood_14() { E4 }
__device__ void flood_15() { E4 }
__device__ void flood_16() { E4 }
__device__ void flood_17() { E4 }
__device__ void flood_18() { E4 }
__device__ void flood_19() { E4 }
__device__ void flood_20() { E4 }
__device__ void flood_21() { E4 }
__device__ void flood_22() { E4 }
__device__ void flood_23() { E4 }
__device__ void flood_24() { E4 }
__device__ void flood_25() { E4 }
__device__ void flood_26() { E4 }
__device__ void flood_27() { E4 }
__device__ void flood_28() { E4 }
__device__ void flood_29() { E4 }
__device__ void flood_30() { E4 }
__device__ void flood_31() { E4 }
__device__ void flood_32() { E4 }
__device__ void flood_33() { E4 }
__device__ void flood_34() { E4 }
__device__ void flood_35() { E4 }
__device__ void flood_36() { E4 }
__device__ void flood_37() { E4 }
__device__ void flood_38() { E4 }
__device__ void flood_39() { E4 }
