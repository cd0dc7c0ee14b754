// What a GPU answers for every one of the 2^32 operands of each approximation of .f32.
//
// nvcc -arch=sm_90 -o record record.cu && ./record > sums.csv
//
// A row is a sign and an exponent, a column a form. Each value is the sum, modulo 2^64, of the bits of all 2^23
// results, each times an odd number that says its place.
#include <cstdio>

#define FORMS(F)                                                                                              \
    F(ex2.approx.f32) F(ex2.approx.ftz.f32) F(lg2.approx.f32) F(lg2.approx.ftz.f32) F(rcp.approx.f32)         \
    F(rcp.approx.ftz.f32) F(rsqrt.approx.f32) F(rsqrt.approx.ftz.f32) F(sqrt.approx.f32)                      \
    F(sqrt.approx.ftz.f32) F(sin.approx.f32) F(sin.approx.ftz.f32) F(cos.approx.f32) F(cos.approx.ftz.f32)    \
    F(tanh.approx.f32)

static const char *const names[] = {
#define NAME(FORM) #FORM,
    FORMS(NAME)};
enum { COUNT = sizeof names / sizeof *names, ROWS = 512, MANTISSAS = 1 << 23 };

__device__ unsigned answer(int form, unsigned bits) {
    unsigned result = 0;
    int at = 0;
#define ASK(FORM)                                                                                             \
    if (form == at++)                                                                                         \
        asm("{.reg .f32 x, y; mov.b32 x, %1; " #FORM " y, x; mov.b32 %0, y;}" : "=r"(result) : "r"(bits));
    FORMS(ASK)
    return result;
}

__global__ void sums(unsigned long long *out) {
    const unsigned row = blockIdx.x, form = blockIdx.y;
    unsigned long long sum = 0;
    for (unsigned m = threadIdx.x; m < MANTISSAS; m += blockDim.x)
        sum += answer(form, row << 23 | m) * (2ull * m + 1);
    atomicAdd(out + row * COUNT + form, sum);
}

int main() {
    static unsigned long long host[ROWS * COUNT];
    unsigned long long *device;
    if (cudaMalloc(&device, sizeof host) || cudaMemset(device, 0, sizeof host)) return 1;
    sums<<<dim3(ROWS, COUNT), 1024>>>(device);
    if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost)) return 1;
    printf("sign_and_exponent");
    for (int form = 0; form < COUNT; form++) printf(",%s", names[form]);
    for (int row = 0; row < ROWS; row++) {
        printf("\n%d", row);
        for (int form = 0; form < COUNT; form++) printf(",%llx", host[row * COUNT + form]);
    }
    printf("\n");
}
