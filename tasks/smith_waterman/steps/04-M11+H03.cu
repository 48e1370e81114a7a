// step: M11+H03 on 03-M11+C07.cu
// Several host threads pack the symbols to two bits: a sixteenth of the bytes crosses the bus, and
// reading the caller's memory is all that takes long. The device unpacks what it reads.
#include "transfer.cuh"

#include <vector>

constexpr int GROUP = 64; // symbols that are packed together: 16 in each of four words
constexpr int THREADS = 128;
constexpr int EACH = 8;    // columns of a virtual lane; 64 of them
constexpr int OUTSIDE = 4; /* a symbol that equals none */

static __device__ int symbol_at(const unsigned *packed, int position)
{
    const int in_group = position % GROUP;
    return packed[position / GROUP * 4 + in_group % 4] >> 2 * (in_group / 4) & 3;
}

/* Four bytes of the eight, or signs of bytes: the intrinsic has no signs. */
static __device__ unsigned pick(uint2 bytes, unsigned selector)
{
    unsigned picked;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(picked) : "r"(bytes.x), "r"(bytes.y), "r"(selector));
    return picked;
}

/* Scores of a row's symbol against the four symbols, a byte each; in the two words those of the two
 * rows that a register has cells of. */
static __device__ void fill_tables(int match, int mismatch, uint2 *tables)
{
    if (threadIdx.x < 25) {
        const int symbol[2] = {(int)threadIdx.x % 5, (int)threadIdx.x / 5};
        unsigned table[2];
        for (int half = 0; half < 2; half++) {
            table[half] = (mismatch & 0xffu) * 0x01010101u;
            if (symbol[half] != OUTSIDE)
                table[half] ^= ((match ^ mismatch) & 0xffu) << 8 * symbol[half];
        }
        tables[threadIdx.x] = make_uint2(table[0], table[1]);
    }
    __syncthreads();
}

__global__ void align(int pairs, int match, int mismatch, int gap, const unsigned *queries,
                      const unsigned *targets, const int *query_offsets, const int *target_offsets,
                      int *edges, int *scores)
{
    __shared__ uint2 tables[25];
    fill_tables(match, mismatch, tables);
    const int i = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= pairs)
        return;
    const int query = query_offsets[i], target = target_offsets[i];
    const int m = query_offsets[i + 1] - query_offsets[i],
              n = target_offsets[i + 1] - target_offsets[i];
    const unsigned gaps = (gap & 0xffffu) * 0x00010001u;
    int *edge = edges + query_offsets[i]; /* scores left of the strip, one a row */
    unsigned best = 0;
    for (int left = 0; left < n; left += 64 * EACH) {
        unsigned select[EACH], cell[EACH], exists[EACH];
#pragma unroll
        for (int c = 0; c < EACH; c++) {
            const int low = left + lane * EACH + c, high = low + 32 * EACH;
            const unsigned a = low < n ? symbol_at(targets, target + low) : 0,
                           b = 4 + (high < n ? symbol_at(targets, target + high) : 0);
            select[c] = a | (a | 8) << 4 | b << 8 | (b | 8) << 12; /* byte and sign, twice */
            exists[c] = (low < n ? 0xffffu : 0) | (high < n ? 0xffff0000u : 0);
            cell[c] = 0;
        }
        unsigned from_left = 0;
        for (int step = 0; step < m + 63; step++) {
            const int row = step - lane, later = row - 32;
            unsigned diagonal = from_left;
            from_left = __shfl_sync(~0u, cell[EACH - 1], (lane + 31) % 32);
            if (lane == 0)
                from_left = from_left << 16 | (left > 0 && row < m ? edge[row] : 0);
            const int symbols =
                (row >= 0 && row < m ? symbol_at(queries, query + row) : OUTSIDE) +
                5 * (later >= 0 && later < m ? symbol_at(queries, query + later) : OUTSIDE);
            const uint2 table = tables[symbols];
            unsigned across = from_left;
#pragma unroll
            for (int c = 0; c < EACH; c++) {
                const unsigned score = pick(table, select[c]);
                const unsigned down = __viaddmax_s16x2(cell[c], gaps, 0);
                const unsigned slant = __viaddmax_s16x2(diagonal, score, down);
                diagonal = cell[c];
                across = cell[c] = __viaddmax_s16x2(across, gaps, slant);
                best = __vmaxs2(best, across & exists[c]);
            }
            if (lane == 31 && later >= 0 && later < m)
                edge[later] = across >> 16;
        }
        __syncwarp();
    }
    for (int d = 16; d > 0; d /= 2)
        best = __vmaxs2(best, __shfl_xor_sync(~0u, best, d));
    if (lane == 0)
        scores[i] = max(best & 0xffff, best >> 16);
}

/* A copy of the array on the device; never of size 0. */
static int *upload(const int *from, size_t count)
{
    int *to;
    CHECK(cudaMalloc(&to, (count + 1) * sizeof(int)));
    CHECK(cudaMemcpy(to, from, count * sizeof(int), cudaMemcpyHostToDevice));
    return to;
}

// Groups `from` to `to` of a side of `total` symbols.
static void pack(const int *symbols, size_t total, size_t from, size_t to, unsigned *packed)
{
    for (size_t g = from; g < to; g++) {
        const int *const in = symbols + g * GROUP;
        unsigned word[4] = {0, 0, 0, 0};
        if ((g + 1) * GROUP <= total) {
            for (int k = 0; k < 16; k++)
                for (int w = 0; w < 4; w++)
                    word[w] |= static_cast<unsigned>(in[4 * k + w]) << 2 * k;
        } else {
            for (size_t k = 0; g * GROUP + k < total; k++)
                word[k % 4] |= static_cast<unsigned>(in[k]) << 2 * (k / 4);
        }
        for (int w = 0; w < 4; w++)
            packed[g * 4 + w] = word[w];
    }
}

/* A packed copy of the symbols on the device; never of size 0. */
static unsigned *upload_packed(const int *from, size_t count)
{
    constexpr size_t PIECE = 2048; /* groups that a thread packs at a time */
    const size_t groups = (count + GROUP - 1) / GROUP;
    std::vector<unsigned> packed(4 * groups);
    std::atomic<size_t> next{0};
    auto work = [&](int) {
        for (size_t first; (first = next.fetch_add(PIECE)) < groups;)
            pack(from, count, first, first + PIECE < groups ? first + PIECE : groups,
                 packed.data());
    };
    const int threads = groups > 8 * PIECE ? transfer::threads_for(12) : 0;
    transfer::Crew<decltype(work)> crew(work, threads);
    unsigned *to;
    CHECK(cudaMalloc(&to, (4 * groups + 1) * sizeof(unsigned)));
    if (threads == 0)
        work(0);
    crew.join();
    CHECK(cudaMemcpy(to, packed.data(), 4 * groups * sizeof(unsigned), cudaMemcpyHostToDevice));
    return to;
}

extern "C" void solution_compute(int N, int total_query_len, int total_target_len, int match_score,
                                 int mismatch_penalty, int gap_penalty, const int *query_seqs,
                                 const int *target_seqs, const int *query_offsets,
                                 const int *target_offsets, int *scores)
{
    unsigned *d_queries = upload_packed(query_seqs, total_query_len),
             *d_targets = upload_packed(target_seqs, total_target_len);
    int *d_query_offsets = upload(query_offsets, (size_t)N + 1);
    int *d_target_offsets = upload(target_offsets, (size_t)N + 1);
    int *d_edges, *d_scores;
    CHECK(cudaMalloc(&d_edges, ((size_t)total_query_len + 1) * sizeof(int)));
    CHECK(cudaMalloc(&d_scores, (size_t)N * sizeof(int)));

    const int warps = THREADS / 32;
    align<<<(N + warps - 1) / warps, THREADS>>>(N, match_score, mismatch_penalty, gap_penalty,
                                                d_queries, d_targets, d_query_offsets,
                                                d_target_offsets, d_edges, d_scores);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(scores, d_scores, (size_t)N * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_queries));
    CHECK(cudaFree(d_targets));
    CHECK(cudaFree(d_query_offsets));
    CHECK(cudaFree(d_target_offsets));
    CHECK(cudaFree(d_edges));
    CHECK(cudaFree(d_scores));
}
