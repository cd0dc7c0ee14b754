// CUB, thrust and cudaMemcpy behind a C interface that bench/peers.py loads. Every function enqueues its work
// on `stream` and returns 0, or another number after which peers_message() says what went wrong.
//
// Temporary storage is the caller's, made before anything is timed: `room`, at least peers_room() bytes.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include <climits>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>

// CUB learnt to sum rows of one length without offsets in CCCL 3.1, and to sum in an order that is not
// guaranteed, with atomics, in CCCL 3.2.
#define HAS_ROWS_OF_ONE_LENGTH (CCCL_VERSION >= 3001000)
#define HAS_NOT_GUARANTEED (CCCL_VERSION >= 3002000)
#if !HAS_ROWS_OF_ONE_LENGTH
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
struct BeginOfRow {
    int columns;
    __host__ __device__ long long operator()(long long row) const { return row * columns; }
};
#endif
#if HAS_NOT_GUARANTEED
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>
#include <cuda/__memory_resource/get_memory_resource.h>
#include <cuda/__memory_resource/resource.h>
#include <cuda/stream_ref>
#endif

static thread_local std::string message;

static int status_of(cudaError_t error) {
    if (error != cudaSuccess) message = cudaGetErrorString(error);
    return (int)error;
}

// The work with a 32-bit count where that suffices, which is what a caller who knows his sizes would pass.
template <typename Work> static int with_count(long long n, Work work) {
    try {
        return status_of(n <= INT_MAX ? work((int)n) : work(n));
    } catch (const std::exception &error) {
        message = error.what();
        return -1;
    }
}

// Hands out the caller's room, to thrust and to CUB's environments alike.
struct Room {
    using value_type = char;
    char *at;
    size_t bytes;

    char *allocate(std::ptrdiff_t count) { return take((size_t)count); }
    void deallocate(char *, size_t) {}
    char *take(size_t count) {
        if (count > bytes) throw std::runtime_error("the temporary storage is too small");
        return at;
    }
#if HAS_NOT_GUARANTEED
    void *allocate(cuda::stream_ref, size_t count, size_t) { return take(count); }
    void *allocate(cuda::stream_ref, size_t count) { return take(count); }
    void deallocate(cuda::stream_ref, void *, size_t, size_t) {}
    void deallocate(cuda::stream_ref, void *, size_t) {}
    void *allocate_sync(size_t count, size_t) { return take(count); }
    void deallocate_sync(void *, size_t, size_t) {}
    bool operator==(const Room &other) const { return at == other.at; }
    bool operator!=(const Room &other) const { return at != other.at; }
#endif
};

#if HAS_NOT_GUARANTEED
using NotGuaranteed = decltype(cuda::execution::require(cuda::execution::determinism::not_guaranteed));

// What CUB asks its environment for: the stream, the memory, the requirement.
struct Environment {
    cudaStream_t stream;
    Room room;
    cuda::stream_ref query(const cuda::get_stream_t &) const noexcept { return cuda::stream_ref{stream}; }
    Room query(const cuda::mr::__get_memory_resource_t &) const noexcept { return room; }
    auto query(const cuda::execution::__get_requirements_t &query) const noexcept {
        return NotGuaranteed(cuda::execution::require(cuda::execution::determinism::not_guaranteed))
            .query(query);
    }
};
static_assert(cuda::mr::resource<Room>);
static_assert(cuda::std::execution::__queryable_with<const Environment &, cuda::mr::__get_memory_resource_t>);
#endif

// One row of `columns` floats after the other, as CUB wants to be told them.
template <typename Count>
static cudaError_t row_sums(void *room, size_t &room_bytes, const float *in, float *out, Count rows,
                            int columns, cudaStream_t stream) {
#if HAS_ROWS_OF_ONE_LENGTH
    return cub::DeviceSegmentedReduce::Sum(room, room_bytes, in, out, rows, columns, stream);
#else
    auto begin = thrust::make_transform_iterator(thrust::counting_iterator<Count>(0), BeginOfRow{columns});
    return cub::DeviceSegmentedReduce::Sum(room, room_bytes, in, out, rows, begin, begin + 1, stream);
#endif
}

// A bin for each value of a byte.
template <typename Count>
static cudaError_t histogram(void *room, size_t &room_bytes, const unsigned char *in, unsigned *out, Count n,
                             cudaStream_t stream) {
    return cub::DeviceHistogram::HistogramEven(room, room_bytes, in, out, 257, 0, 256, n, stream);
}

template <typename Count>
static cudaError_t scan(void *room, size_t &room_bytes, const float *in, float *out, Count n,
                        cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(room, room_bytes, in, out, n, stream);
}

extern "C" {

int peers_cccl_version() { return CCCL_VERSION; }

int peers_has_not_guaranteed() { return HAS_NOT_GUARANTEED; }

const char *peers_message() { return message.c_str(); }

// Bytes of room that suffice for everything here at up to n elements and `rows` rows; 0 on an error.
size_t peers_room(long long n, long long rows) {
    size_t sum_room = 0, rows_room = 0;
    const float *in = nullptr;
    float *out = nullptr;
    int failed =
        with_count(n, [&](auto count) { return cub::DeviceReduce::Sum(nullptr, sum_room, in, out, count); });
    if (rows > 0) {
        failed |=
            with_count(rows, [&](auto count) { return row_sums(nullptr, rows_room, in, out, count, 1, 0); });
    }
    size_t most = sum_room > rows_room ? sum_room : rows_room, bins_room = 0;
    const unsigned char *bytes = nullptr;
    unsigned *bins = nullptr;
    failed |= with_count(n, [&](auto count) { return histogram(nullptr, bins_room, bytes, bins, count, 0); });
    most = most > bins_room ? most : bins_room;
    size_t scan_room = 0;
    failed |= with_count(n, [&](auto count) { return scan(nullptr, scan_room, in, out, count, 0); });
    most = most > scan_room ? most : scan_room;
    return failed ? 0 : 2 * most + (1 << 20); // thrust rounds up in its own ways
}

int peers_cub_sum(void *room, size_t room_bytes, const float *in, float *out, long long n,
                  cudaStream_t stream) {
    return with_count(
        n, [&](auto count) { return cub::DeviceReduce::Sum(room, room_bytes, in, out, count, stream); });
}

int peers_cub_sum_not_guaranteed(void *room, size_t room_bytes, const float *in, float *out, long long n,
                                 cudaStream_t stream) {
#if HAS_NOT_GUARANTEED
    Environment environment{stream, Room{(char *)room, room_bytes}};
    return with_count(n, [&](auto count) { return cub::DeviceReduce::Sum(in, out, count, environment); });
#else
    message = "this CUB has no sum of not guaranteed determinism; CCCL 3.2 is the first that does";
    return -1;
#endif
}

// `out` is on the host: that is what thrust::reduce returns, and why it waits.
int peers_thrust_sum(void *room, size_t room_bytes, const float *in, float *out, long long n,
                     cudaStream_t stream) {
    Room storage{(char *)room, room_bytes};
    thrust::device_ptr<const float> first(in);
    return with_count(n, [&](auto count) {
        *out = thrust::reduce(thrust::cuda::par(storage).on(stream), first, first + count);
        return cudaSuccess;
    });
}

// A row is `columns` floats, and rows follow each other without a gap.
int peers_cub_row_sums(void *room, size_t room_bytes, const float *in, float *out, long long rows,
                       int columns, cudaStream_t stream) {
    return with_count(
        rows, [&](auto count) { return row_sums(room, room_bytes, in, out, count, columns, stream); });
}

int peers_cub_histogram(void *room, size_t room_bytes, const unsigned char *in, unsigned *out, long long n,
                        cudaStream_t stream) {
    return with_count(n, [&](auto count) { return histogram(room, room_bytes, in, out, count, stream); });
}

int peers_cub_scan(void *room, size_t room_bytes, const float *in, float *out, long long n,
                   cudaStream_t stream) {
    return with_count(n, [&](auto count) { return scan(room, room_bytes, in, out, count, stream); });
}

int peers_copy(const void *in, void *out, size_t bytes, cudaStream_t stream) {
    return status_of(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream));
}
}
