// Asks a GPU for the results of every matrix instruction of forms.def and writes them down.
//
//     nvcc -O2 -std=c++17 -arch=sm_90a record.cu -o record && ./record record.bin [full.bin]
//
// record.bin holds, for each form and each family of operands (operands.h), a hash of every batch of tiles and the complete
// results of the first tile; full.bin the results of the first 16 tiles. forms.py reads both: read_answers().
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "operands.h"

#ifndef FIRST_TILE
#define FIRST_TILE 0 // -DFIRST_TILE=N draws other operands
#endif
#define CHECK(call) do { cudaError_t e = (call); if (e) { fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); exit(1); } } while (0)

enum { BATCHES = 6, BATCH = 16, TILES = BATCHES * BATCH, FULL_TILES = 16 };

// ---- Kernels --------------------------------------------------------------------------------------------------

#define AT_32(r) AT_32_##r
#define AT_32_0 "0"
#define AT_32_1 "128"
#define AT_32_2 "256"
#define AT_32_3 "384"
#define AT_32_4 "512"
#define AT_32_5 "640"
#define AT_32_6 "768"
#define AT_32_7 "896"
#define AT_64(r) AT_64_##r
#define AT_64_0 "0"
#define AT_64_1 "256"
#define AT_64_2 "512"
#define AT_64_3 "768"
#define AT_64_4 "1024"
#define AT_64_5 "1280"
#define AT_64_6 "1536"
#define AT_64_7 "1792"
#define LOAD(w, x, r, p) "ld.global.b" #w " " x #r ", [" p "+" AT_##w(r) "];"
#define LOADS_1(w, x, p) LOAD(w, x, 0, p)
#define LOADS_2(w, x, p) LOADS_1(w, x, p) LOAD(w, x, 1, p)
#define LOADS_4(w, x, p) LOADS_2(w, x, p) LOAD(w, x, 2, p) LOAD(w, x, 3, p)
#define LOADS_8(w, x, p) LOADS_4(w, x, p) LOAD(w, x, 4, p) LOAD(w, x, 5, p) LOAD(w, x, 6, p) LOAD(w, x, 7, p)
#define STORE(w, x, r, p) "st.global.b" #w " [" p "+" AT_##w(r) "], " x #r ";"
#define STORES_1(w, x, p) STORE(w, x, 0, p)
#define STORES_2(w, x, p) STORES_1(w, x, p) STORE(w, x, 1, p)
#define STORES_4(w, x, p) STORES_2(w, x, p) STORE(w, x, 2, p) STORE(w, x, 3, p)
#define STORES_8(w, x, p) STORES_4(w, x, p) STORE(w, x, 4, p) STORE(w, x, 5, p) STORE(w, x, 6, p) STORE(w, x, 7, p)
#define VECTOR_1(x) "{" x "0}"
#define VECTOR_2(x) "{" x "0," x "1}"
#define VECTOR_4(x) "{" x "0," x "1," x "2," x "3}"
#define VECTOR_8(x) "{" x "0," x "1," x "2," x "3," x "4," x "5," x "6," x "7}"
#define REGISTERS(w) ".reg .b" #w " a<8>, b<8>, c<8>, d<8>;"

template <int N> struct Form;
template <int W> struct Word { using Type = uint32_t; };
template <> struct Word<64> { using Type = uint64_t; };

#define MMA(D, A, B, C, W, TEXT, AT, BT, CT)                                                                                     \
    template <> struct Form<__LINE__> {                                                                                          \
        static constexpr int bits = W, a = A * 32, b = B * 32, c = C * 32, out = D * 32, lanes = 32, types[] = {AT, BT, CT};     \
        static constexpr const char *text = TEXT;                                                                                \
        static __device__ void run(const char *pa, const char *pb, const char *pc, char *pd) {                                   \
            const size_t at = threadIdx.x * (W / 8);                                                                             \
            asm volatile("{" REGISTERS(W) LOADS_##A(W, "a", "%0") LOADS_##B(W, "b", "%1") LOADS_##C(W, "c", "%2") TEXT           \
                         " " VECTOR_##D("d") "," VECTOR_##A("a") "," VECTOR_##B("b") "," VECTOR_##C("c") ";"                     \
                         STORES_##D(W, "d", "%3") "}" ::"l"(pa + at), "l"(pb + at), "l"(pc + at), "l"(pd + at) : "memory");      \
        }                                                                                                                        \
    };
// After d come the registers of the fragments a, b and c.
#define WMMA(D, A, B, C, W, AW, BW, CW, DW, LA, AS, LB, BS, LC, TEXT, SD, CS, AT, BT, CT)                                        \
    template <> struct Form<__LINE__> {                                                                                          \
        static constexpr int bits = W, a = AW, b = BW, c = CW, out = DW + (A + B + C) * 32, lanes = 1, types[] = {AT, BT, CT};   \
        static constexpr const char *text = TEXT;                                                                                \
        static __device__ void run(const char *pa, const char *pb, const char *pc, char *pd) {                                   \
            char *fa = pd + (DW + threadIdx.x) * (W / 8), *fb = fa + A * 32 * (W / 8), *fc = fb + B * 32 * (W / 8);              \
            asm volatile("{" REGISTERS(W) LA VECTOR_##A("a") ", [%0], " #AS ";" LB VECTOR_##B("b") ", [%1], " #BS ";"            \
                         LC VECTOR_##C("c") ", [%2], " #CS ";"                                                                   \
                         TEXT " " VECTOR_##D("d") "," VECTOR_##A("a") "," VECTOR_##B("b") "," VECTOR_##C("c") ";"                \
                         SD " [%3], " VECTOR_##D("d") ", " #CS ";"                                                               \
                         STORES_##A(W, "a", "%4") STORES_##B(W, "b", "%5") STORES_##C(W, "c", "%6") "}" ::"l"(pa), "l"(pb),      \
                         "l"(pc), "l"(pd), "l"(fa), "l"(fb), "l"(fc) : "memory");                                                \
        }                                                                                                                        \
    };
#include "forms.def"
#undef MMA
#undef WMMA

template <int N> __global__ void tiles(const char *a, const char *b, const char *c, char *d) {
    using F = Form<N>;
    const size_t word = F::bits / 8, tile = blockIdx.x;
    F::run(a + tile * F::a * word, b + tile * F::b * word, c + tile * F::c * word, d + tile * F::out * word);
}

// ---- One form -------------------------------------------------------------------------------------------------

static FILE *record, *full;
static long recorded;

static void put(FILE *file, const void *bytes, size_t count) {
    if (file && fwrite(bytes, 1, count, file) != count) { perror("record"); exit(1); }
}

template <int N> void record_form() {
    using F = Form<N>;
    using Word = typename Word<F::bits>::Type;
    const int words[] = {F::a, F::b, F::c};
    char *in[3], *out;
    std::vector<Word> values[3], results((size_t)TILES * F::out);
    for (int k = 0; k < 3; k++) {
        values[k].resize((size_t)TILES * words[k]);
        CHECK(cudaMalloc(&in[k], values[k].size() * sizeof(Word)));
    }
    CHECK(cudaMalloc(&out, results.size() * sizeof(Word)));
    const uint32_t length = (uint32_t)strlen(F::text), shape[] = {(uint32_t)F::bits, (uint32_t)F::out};
    for (FILE *file : {record, full}) {
        put(file, &length, sizeof length);
        put(file, F::text, length);
        put(file, shape, sizeof shape);
    }
    for (int family = 0; family < FAMILIES; family++) {
        for (int k = 0; k < 3; k++) {
            for (int t = 0; t < TILES; t++)
                fill_operand(&values[k][(size_t)t * words[k]], F::bits, words[k], F::lanes, F::types[k], k, family, tile_seed(F::text, family, FIRST_TILE + t));
            CHECK(cudaMemcpy(in[k], values[k].data(), values[k].size() * sizeof(Word), cudaMemcpyHostToDevice));
        }
        CHECK(cudaMemset(out, 0, results.size() * sizeof(Word)));
        tiles<N><<<TILES, 32>>>(in[0], in[1], in[2], out);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(results.data(), out, results.size() * sizeof(Word), cudaMemcpyDeviceToHost));
        for (int batch = 0; batch < BATCHES; batch++) {
            uint64_t sum = 0;
            for (size_t i = 0; i < (size_t)BATCH * F::out; i++) sum += word_hash(results[(size_t)batch * BATCH * F::out + i], i);
            put(record, &sum, sizeof sum);
        }
        put(record, results.data(), F::out * sizeof(Word));
        put(full, results.data(), (size_t)FULL_TILES * F::out * sizeof(Word));
        recorded += TILES;
    }
    for (int k = 0; k < 3; k++) CHECK(cudaFree(in[k]));
    CHECK(cudaFree(out));
}

int main(int count, char **arguments) {
    if (count < 2) { fprintf(stderr, "usage: record RECORD [FULL]\n"); return 2; }
    record = fopen(arguments[1], "wb");
    full = count > 2 ? fopen(arguments[2], "wb") : nullptr;
    if (!record || (count > 2 && !full)) { perror("record"); return 1; }
    const uint32_t head[] = {BATCHES, BATCH, FULL_TILES, FAMILIES};
    put(record, head, sizeof head);
    put(full, head, sizeof head);
#define MMA(...) record_form<__LINE__>();
#define WMMA(...) record_form<__LINE__>();
#include "forms.def"
    if (fclose(record) || (full && fclose(full))) { perror("record"); return 1; }
    printf("%ld tiles\n", recorded);
    return 0;
}
