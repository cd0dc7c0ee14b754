#include "driver/plan/large.h"

#include <math.h>
#include <stdlib.h>

#include "driver/plan/inputs.h"

enum { STREAM_BLOCKS = 301 }; // of random numbers

// A number that a launch is given, and the element type that holds it.
static bool has_argument(const Task *task, QuantityKind kind, ElementType type) {
    for (int l = 0; l < task_launch_count(task); l++)
        for (int a = 0; a < MAX_ARGUMENTS; a++) {
            const Argument *argument = &task->launches[l].arguments[a];
            if (!argument->buffer && argument->value.kind == kind && argument->type == type &&
                (kind != QUANTITY_N || type != F32)) // the default of an argument that is not there
                return true;
        }
    return false;
}

// The elements of the largest input or output if there are n: a point may have three coordinates.
static long long largest_buffer(const Task *task, CaseSize size) {
    const CaseShape shape = {.size = size};
    long long most = 0;
    for (int b = 0; b < task_buffer_count(task); b++) {
        const Buffer *buffer = &task->buffers[b];
        const bool depends_on_launch =
            buffer->count.kind >= QUANTITY_PER_THREAD && buffer->count.kind <= QUANTITY_ELEMENTS_OF;
        if ((buffer->role != INPUT && buffer->role != OUTPUT) || depends_on_launch) continue;
        const long long count = quantity_value(task, &buffer->count, &shape);
        if (count > most) most = count;
    }
    return most;
}

bool large_size(const Task *task, long long choice, CaseSize *size) {
    *size = task->large;
    if (size->n != 0) return size->n > 0;
    // One block does everything: its share is the whole.
    if (task->expect == EXPECT_TABLE || task->launches[0].max_blocks == 1) return false;
    if (has_argument(task, QUANTITY_ROWS, I32) && has_argument(task, QUANTITY_COLUMNS, I32)) {
        // More rows than blocks along y or z, and more elements than an unsigned number counts.
        *size = (CaseSize){.rows = 70001, .columns = 65999};
        size->n = size->rows * size->columns;
        return true;
    }
    if (has_argument(task, QUANTITY_N, U64) || has_argument(task, QUANTITY_N, I64)) {
        *size = (CaseSize){.n = (1LL << 32) + (1 << 28) + choice};
        return true;
    }
    if (!has_argument(task, QUANTITY_N, I32)) return false;
    // More bytes of float than an unsigned number counts. An int holds the index of every element, and still
    // that of one a whole grid further: a grid of up to 2^29 threads may add its size to an index.
    *size = (CaseSize){.n = (1LL << 30) + (1 << 26) + choice};
    const long long largest = largest_buffer(task, *size);
    if (largest > size->n) size->n = size->n / ((largest + size->n - 1) / size->n);
    return true;
}

long long large_round(uint64_t blocks, uint64_t block_threads, long long n) {
    const long long block = 64 * (long long)block_threads;
    for (long long each = 64; each >= 1; each /= 2) {
        const long long round = each * (long long)(blocks * block_threads);
        if (round <= n / 8) return round;
    }
    return block;
}

// A multiple of 4 and 3 more: groups of 2, 4 and more elements leave some over. Fewer than 64: a float that
// holds a number above 2^30 may lack that many.
long long large_with_rest(uint64_t blocks, uint64_t block_threads, long long n, long long choice) {
    const long long round = large_round(blocks, block_threads, n);
    return n / round * round + 3 + 4 * (choice % 15);
}

long long drawn_size(long long choice) {
    const double place = (double)choice / LARGE_CHOICE;
    return (long long)((1 << 21) * pow(7.9, pow(place, 8))) + choice % (1 << 17);
}

static int compare_numbers(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void add_block(uint64_t sample[], int *count, int most, uint64_t block, uint64_t blocks) {
    if (*count == most || block >= blocks) return;
    for (int i = 0; i < *count; i++)
        if (sample[i] == block) return;
    sample[(*count)++] = block;
}

// In a loop over the grid with groups of `each` elements: the block whose elements the first block reaches
// with an index that wraps by `wrap` elements.
static uint64_t alias_of_first(uint64_t blocks, uint64_t block_threads, uint64_t each, uint64_t wrap) {
    const uint64_t round = blocks * block_threads * each;
    return (round - wrap % round) % round / (block_threads * each);
}

// If each block has a piece of the elements: the one that has element `place`.
static uint64_t block_at(long long place, long long elements, uint64_t blocks) {
    return (uint64_t)((long double)place / (long double)elements * (long double)blocks);
}

int large_sample(uint64_t blocks, uint64_t block_threads, long long elements, size_t bytes, int most,
                 uint64_t seed, uint64_t sample[]) {
    int count = 0;
    if (blocks == 0 || block_threads == 0) return 0;
    const long long last = elements - 1, per_4_gib = (1LL << 32) / (long long)bytes;
    add_block(sample, &count, most, 0, blocks);
    add_block(sample, &count, most, blocks - 1, blocks);
    // If each block has a piece of the elements: one whose place may wrap by 2^32, and those that have the
    // elements that it reaches then.
    const long long wrapped = (last - (1LL << 32)) / 2;
    if (wrapped > 0) {
        add_block(sample, &count, most, block_at(wrapped, elements, blocks), blocks);
        add_block(sample, &count, most, block_at(wrapped, elements, blocks) + 1, blocks);
        add_block(sample, &count, most, block_at(wrapped + (1LL << 32), elements, blocks), blocks);
    }
    add_block(sample, &count, most, alias_of_first(blocks, block_threads, 4, (uint64_t)per_4_gib), blocks);
    add_block(sample, &count, most, alias_of_first(blocks, block_threads, 1, (uint64_t)per_4_gib), blocks);
    add_block(sample, &count, most, random_bits(seed, STREAM_BLOCKS, 0) % blocks, blocks);
    // Where numbers overflow, and what the last element's index becomes there.
    const long long places[] = {per_4_gib / 2, per_4_gib,        1LL << 31,
                                1LL << 32,     last - per_4_gib, last - (1LL << 32)};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i] < 0 || places[i] > last) continue;
        const uint64_t block = block_at(places[i], elements, blocks);
        add_block(sample, &count, most, block, blocks);
        add_block(sample, &count, most, block + 1, blocks);
    }
    for (uint64_t k = 1; count < most && k < 4 * (uint64_t)most; k++)
        add_block(sample, &count, most, random_bits(seed, STREAM_BLOCKS, k) % blocks, blocks);
    qsort(sample, (size_t)count, sizeof *sample, compare_numbers);
    return count;
}
