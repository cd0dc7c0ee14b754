// Runs tree.cl over N floats on a given OpenCL platform and tells how long it took and what the sum is:
//
//   opencl_tree tree.cl N PLATFORM     ->   "CPU_SECONDS SUM", on standard output
//
// The time is the processor's, of the whole process, from the launch to its end.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 256, MAX_SOURCE = 1 << 16, MAX_PLATFORMS = 8 };

static void must(cl_int status, const char *what) {
    if (status == CL_SUCCESS) return;
    fprintf(stderr, "opencl_tree: %s failed: OpenCL error %d\n", what, (int)status);
    exit(1);
}

static cl_platform_id platform_named(const char *wanted) {
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS) count = 0;
    for (cl_uint i = 0; i < count && i < MAX_PLATFORMS; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strstr(name, wanted)) return platforms[i];
    }
    fprintf(stderr, "opencl_tree: there is no OpenCL platform %s\n", wanted);
    exit(3);
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    static char source[MAX_SOURCE];
    FILE *file = fopen(argv[1], "rb");
    size_t length = file ? fread(source, 1, sizeof source - 1, file) : 0,
           n = strtoull(argv[2], NULL, 10) / BLOCK * BLOCK;
    if (!length || !n) return 2;
    fclose(file);

    cl_int status;
    cl_device_id device;
    must(clGetDeviceIDs(platform_named(argv[3]), CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    must(status, "clCreateCommandQueue");
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, &length, &status);
    must(status, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "tree", &status);
    must(status, "clCreateKernel");

    float *values = malloc(n * sizeof *values);
    if (!values) return 1;
    for (size_t i = 0; i < n; i++) values[i] = (float)(i % 7);
    cl_mem in = clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof *values, NULL, &status);
    must(status, "clCreateBuffer");
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, n / BLOCK * sizeof *values, NULL, &status);
    must(status, "clCreateBuffer");
    must(clEnqueueWriteBuffer(queue, in, CL_TRUE, 0, n * sizeof *values, values, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    must(clSetKernelArg(kernel, 0, sizeof in, &in), "clSetKernelArg");
    must(clSetKernelArg(kernel, 1, sizeof out, &out), "clSetKernelArg");

    // The first launch is not timed: PoCL compiles the kernel in it.
    size_t one = BLOCK, block = BLOCK;
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &block, 0, NULL, NULL),
         "clEnqueueNDRangeKernel");
    must(clFinish(queue), "clFinish");
    double start = cpu_seconds();
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &block, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    must(clFinish(queue), "clFinish");
    double seconds = cpu_seconds() - start;
    must(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, n / BLOCK * sizeof *values, values, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    double sum = 0;
    for (size_t i = 0; i < n / BLOCK; i++) sum += values[i];
    printf("%.9f %.0f\n", seconds, sum);
    return 0;
}
