// step: M11+C07 on 02-M04.cu
// A register holds two cells of 16 bits, which is enough for every score: those of the lane's eight
// columns and of eight columns 256 further on, 32 steps behind. Two cells take one instruction
// (DPX, from compute capability 9.0 on), and a byte permutation looks up both of their symbols'
// scores.
#include "check.cuh"

constexpr int THREADS = 128;
constexpr int EACH = 8;    // columns of a virtual lane; 64 of them
constexpr int OUTSIDE = 4; /* a symbol that equals none */

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

__global__ void align(int pairs, int match, int mismatch, int gap, const int *queries,
                      const int *targets, const int *query_offsets, const int *target_offsets,
                      int *edges, int *scores)
{
    __shared__ uint2 tables[25];
    fill_tables(match, mismatch, tables);
    const int i = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= pairs)
        return;
    const int *query = queries + query_offsets[i], *target = targets + target_offsets[i];
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
            const unsigned a = low < n ? target[low] : 0, b = 4 + (high < n ? target[high] : 0);
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
            const int symbols = (row >= 0 && row < m ? query[row] : OUTSIDE) +
                                5 * (later >= 0 && later < m ? query[later] : OUTSIDE);
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

extern "C" void solution_compute(int N, int total_query_len, int total_target_len, int match_score,
                                 int mismatch_penalty, int gap_penalty, const int *query_seqs,
                                 const int *target_seqs, const int *query_offsets,
                                 const int *target_offsets, int *scores)
{
    int *d_queries = upload(query_seqs, total_query_len),
        *d_targets = upload(target_seqs, total_target_len);
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
