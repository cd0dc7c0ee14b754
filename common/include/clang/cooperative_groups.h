// Cooperative groups: blocks, tiles of a warp, and the threads that are together at the moment (CUDA C++ Programming
// Guide, "Cooperative Groups").
#pragma once

namespace cooperative_groups {

class thread_block {
  public:
    static WARPBOOK_MEMBER void sync() { __syncthreads(); }
    static WARPBOOK_MEMBER unsigned int thread_rank() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static WARPBOOK_MEMBER unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static WARPBOOK_MEMBER unsigned int size() { return num_threads(); }
    static WARPBOOK_MEMBER dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
    static WARPBOOK_MEMBER dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
    static WARPBOOK_MEMBER dim3 group_dim() { return blockDim; }
    static WARPBOOK_MEMBER dim3 dim_threads() { return blockDim; }
};
WARPBOOK_DEVICE thread_block this_thread_block() { return {}; }

class grid_group {
  public:
    static WARPBOOK_MEMBER unsigned long long thread_rank() {
        const unsigned long long block = blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
        return block * thread_block::num_threads() + thread_block::thread_rank();
    }
    static WARPBOOK_MEMBER unsigned long long num_threads() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * thread_block::num_threads();
    }
    static WARPBOOK_MEMBER unsigned long long size() { return num_threads(); }
    static WARPBOOK_MEMBER dim3 group_dim() { return gridDim; }
};
WARPBOOK_DEVICE grid_group this_grid() { return {}; }

// SIZE neighbouring threads of a warp: 1, 2, 4, 8, 16 or 32.
template <unsigned int SIZE, typename Parent = void> class thread_block_tile {
    static_assert(SIZE >= 1 && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    static WARPBOOK_MEMBER unsigned int thread_rank() { return thread_block::thread_rank() % SIZE; }
    static constexpr WARPBOOK_MEMBER unsigned int num_threads() { return SIZE; }
    static constexpr WARPBOOK_MEMBER unsigned int size() { return SIZE; }
    static WARPBOOK_MEMBER unsigned int meta_group_rank() { return thread_block::thread_rank() / SIZE; }
    static WARPBOOK_MEMBER unsigned int meta_group_size() { return (thread_block::num_threads() + SIZE - 1) / SIZE; }
    // The lanes of this tile.
    static WARPBOOK_MEMBER unsigned int mask() {
        if (SIZE == 32) return 0xffffffff;
        return (((1u << (SIZE % 32)) - 1) << (thread_block::thread_rank() % 32 / SIZE * SIZE));
    }
    static WARPBOOK_MEMBER void sync() { __syncwarp(mask()); }
    template <typename Type> static WARPBOOK_MEMBER Type shfl(Type value, int lane) {
        return __shfl_sync(mask(), value, lane, SIZE);
    }
    template <typename Type> static WARPBOOK_MEMBER Type shfl_down(Type value, unsigned int distance) {
        return __shfl_down_sync(mask(), value, distance, SIZE);
    }
    template <typename Type> static WARPBOOK_MEMBER Type shfl_up(Type value, unsigned int distance) {
        return __shfl_up_sync(mask(), value, distance, SIZE);
    }
    template <typename Type> static WARPBOOK_MEMBER Type shfl_xor(Type value, unsigned int distance) {
        return __shfl_xor_sync(mask(), value, distance, SIZE);
    }
    static WARPBOOK_MEMBER int any(int predicate) { return (__ballot_sync(mask(), predicate) & mask()) != 0; }
    static WARPBOOK_MEMBER int all(int predicate) { return (__ballot_sync(mask(), predicate) & mask()) == mask(); }
    static WARPBOOK_MEMBER unsigned int ballot(int predicate) {
        return (__ballot_sync(mask(), predicate) & mask()) >> (thread_block::thread_rank() % 32 / SIZE * SIZE);
    }
};
template <unsigned int SIZE, typename Parent>
WARPBOOK_DEVICE thread_block_tile<SIZE, Parent> tiled_partition(const Parent &) {
    return {};
}

// The threads of a warp that arrive here together.
class coalesced_group {
    unsigned int lanes;

  public:
    WARPBOOK_MEMBER explicit coalesced_group(unsigned int lanes) : lanes(lanes) {}
    WARPBOOK_MEMBER unsigned int num_threads() const { return (unsigned int)__popc(lanes); }
    WARPBOOK_MEMBER unsigned int size() const { return num_threads(); }
    WARPBOOK_MEMBER unsigned int thread_rank() const {
        unsigned int below;
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
        return (unsigned int)__popc(lanes & below);
    }
    WARPBOOK_MEMBER void sync() const { __syncwarp(lanes); }
    template <typename Type> WARPBOOK_MEMBER Type shfl(Type value, int rank) const {
        return __shfl_sync(lanes, value, (int)__fns(lanes, 0, rank + 1));
    }
    WARPBOOK_MEMBER int any(int predicate) const { return __any_sync(lanes, predicate); }
    WARPBOOK_MEMBER int all(int predicate) const { return __all_sync(lanes, predicate); }
};
WARPBOOK_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <typename Group> WARPBOOK_DEVICE void sync(const Group &group) { group.sync(); }

} // namespace cooperative_groups
