// Local alignment scores: symbols packed to two bits by the host's threads, a warp a pair.
//
// Approach: the caller's four bytes a symbol are packed to two bits by several host threads, so
// that a sixteenth of them crosses the bus; chunk after chunk of the pairs, with the kernel for a
// chunk running while the next ones are packed. A warp aligns a pair. The shorter sequence (mostly)
// lies along 64 virtual lanes, two in the halves of each register of a lane, and the rows of the
// table run through them like a wave, in 16-bit arithmetic that does two cells at once (DPX
// instructions from compute capability 9.0 on). One byte permutation gives the scores of both: the
// row's symbols choose a table of four scores, the columns' symbols the bytes in it. Longer
// sequences take several strips, which hand over their edge in global memory. Long pairs are taken
// first.
//
// What bounds it: at large the alignment itself, some five instructions for two cells and a third
// more for handing rows from lane to lane; the host has packed everything after 1.1 ms of 2.8. At
// small and medium starting threads, transfers and the longest pair.
//
// Tried: two pairs a warp, half of it each, sorted by likeness (less to hand over and to pad, yet a
// tenth slower at large: a warp is busy twice as long, and its pairs wait for each other); four or
// seven blocks a multiprocessor instead of five, three chunks instead of six (equal or slower).
// Without packing, large takes 5 ms more (the ladder's last steps).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.20 ms, medium 0.76 ms, large
// 2.8 ms (18 %, 22 % and 44 % of what the bus needs for the unpacked symbols; naive 32, 112 and 930
// ms). An evaluation, which comes to a call with cold caches, takes 0.24 ms at small.
#include "transfer.cuh"

#include <vector>

constexpr int GROUP = 64; // symbols that are packed together: 16 in each of four words
constexpr int THREADS = 128;
constexpr int OUTSIDE = 4;      // a symbol that equals none
constexpr int WIDEST = 64 * 16; // columns of the widest strip

constexpr size_t ARENA = 1000 * 1000; // bytes

// Enough for small calls, which would otherwise pay more for an allocation than for their
// transfers.
static __device__ __align__(256) char arena[ARENA];

struct Pairs {
    int first, end;
    unsigned long long mean_work; // pairs with more are taken first
    const uint4 *packed[2];
    const int *offsets[2];
    unsigned short *edge; // one for each symbol of both sides: offsets as they are
    size_t edge_of_targets;
    int *scores;
    int match, mismatch, gap;
};

static __device__ int symbol_at(const uint4 *packed, int position)
{
    const unsigned *words = reinterpret_cast<const unsigned *>(packed);
    const int in_group = position % GROUP;
    return words[position / GROUP * 4 + in_group % 4] >> 2 * (in_group / 4) & 3;
}

// Four bytes of the eight, or signs of bytes: the intrinsic has no signs.
static __device__ unsigned pick(uint2 bytes, unsigned selector)
{
    unsigned picked;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(picked) : "r"(bytes.x), "r"(bytes.y), "r"(selector));
    return picked;
}

// The strip of 64*COLUMNS columns from `left` on. Its first column has number `left`; columns
// before 0 and from n on do not exist. Returns the best score in both halves.
template <int COLUMNS>
static __device__ unsigned strip(const Pairs &p, const uint2 *tables, const uint4 *rows,
                                 int rows_begin, int m, const uint4 *columns, int columns_begin,
                                 int n, int left, unsigned short *edge, bool first, bool last)
{
    const int lane = threadIdx.x % 32;
    unsigned select[COLUMNS], cell[COLUMNS], best[COLUMNS / 2];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const int low = left + lane * COLUMNS + c, high = low + 32 * COLUMNS;
        const unsigned a = low >= 0 && low < n ? symbol_at(columns, columns_begin + low) : 0,
                       b = 4 + (high < n ? symbol_at(columns, columns_begin + high) : 0);
        select[c] = a | (a | 8) << 4 | b << 8 | (b | 8) << 12; // the byte and its sign, twice
        cell[c] = 0;
        if (c % 2 == 0)
            best[c / 2] = 0;
    }
    const unsigned gap = static_cast<unsigned>(p.gap) & 0xffffu, gaps = gap | gap << 16;
    // Where the first column is none, what is left of it may not reach it.
    const unsigned beyond = left < 0 ? 0xc000u : 0;
    unsigned from_left = 0, symbols = OUTSIDE * 5 + OUTSIDE, before = OUTSIDE;
    if (lane == 0)
        from_left = beyond;
    for (int block = 0; block < m + 63; block += 32) {
        // Lane l knows row block + l: its symbol, that of 32 rows before, and the edge.
        const int row = block + lane;
        const unsigned symbol = row < m ? symbol_at(rows, rows_begin + row) : OUTSIDE;
        unsigned known = symbol + 5 * before;
        if (!first && row < m)
            known |= static_cast<unsigned>(edge[row]) << 16;
        before = symbol;
        const int steps = min(32, m + 63 - block);
        for (int step = 0; step < steps; step++) {
            if (lane == step)
                symbols = known;
            const unsigned mine = __shfl_sync(~0u, symbols, (step - lane) & 31);
            const unsigned diagonal_in = from_left;
            from_left = __shfl_sync(~0u, cell[COLUMNS - 1], (lane - 1) & 31);
            if (lane == 0)
                from_left = from_left << 16 | (first ? beyond : mine >> 16);
            const uint2 table = tables[mine & 0xff];
            unsigned diagonal = diagonal_in, leftward = from_left;
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                const unsigned score = pick(table, select[c]);
                const unsigned down = __viaddmax_s16x2(cell[c], gaps, 0);
                const unsigned across = __viaddmax_s16x2(diagonal, score, down);
                diagonal = cell[c];
                leftward = cell[c] = __viaddmax_s16x2(leftward, gaps, across);
                if (c % 2 == 1)
                    best[c / 2] = __vimax3_s16x2(best[c / 2], cell[c - 1], cell[c]);
            }
            const int done = block + step - 63;
            if (!last && lane == 31 && done >= 0)
                edge[done] = static_cast<unsigned short>(cell[COLUMNS - 1] >> 16);
        }
    }
    unsigned all = 0;
#pragma unroll
    for (int c = 0; c < COLUMNS; c += 2) { // n - left is even: a pair of columns exists or not
        const int low = left + lane * COLUMNS + c;
        const unsigned exist = (low < n ? 0xffffu : 0) | (low + 32 * COLUMNS < n ? 0xffff0000u : 0);
        all = __vmaxs2(all, best[c / 2] & exist);
    }
    return all;
}

template <int COLUMNS>
static __device__ unsigned strips(const Pairs &p, const uint2 *tables, const uint4 *rows,
                                  int rows_begin, int m, const uint4 *columns, int columns_begin,
                                  int n, unsigned short *edge)
{
    unsigned best = 0;
    int left = -(n % 2);
    for (bool first = true; left < n; first = false, left += 64 * COLUMNS) {
        const bool last = left + 64 * COLUMNS >= n;
        best = __vmaxs2(best, strip<COLUMNS>(p, tables, rows, rows_begin, m, columns, columns_begin,
                                             n, left, edge, first, last));
        __syncwarp();
    }
    return best;
}

static __device__ int align(const Pairs &p, const uint2 *tables, int pair)
{
    const int begin[2] = {p.offsets[0][pair], p.offsets[1][pair]};
    const int length[2] = {p.offsets[0][pair + 1] - begin[0], p.offsets[1][pair + 1] - begin[1]};
    const int across = length[1] <= length[0] ? 1 : 0; // the shorter one
    const int m = length[1 - across], n = length[across];
    if (n == 0)
        return 0;
    const uint4 *rows = p.packed[1 - across], *columns = p.packed[across];
    const int rows_begin = begin[1 - across], columns_begin = begin[across];
    unsigned short *edge = p.edge + (across == 1 ? 0 : p.edge_of_targets) + rows_begin;
    const int even = n + n % 2;
    unsigned best;
    if (even <= 128)
        best = strips<2>(p, tables, rows, rows_begin, m, columns, columns_begin, n, edge);
    else if (even <= 256)
        best = strips<4>(p, tables, rows, rows_begin, m, columns, columns_begin, n, edge);
    else if (even <= 384)
        best = strips<6>(p, tables, rows, rows_begin, m, columns, columns_begin, n, edge);
    else if (even <= 512)
        best = strips<8>(p, tables, rows, rows_begin, m, columns, columns_begin, n, edge);
    else
        best = strips<16>(p, tables, rows, rows_begin, m, columns, columns_begin, n, edge);
    for (int d = 16; d > 0; d /= 2)
        best = __vmaxs2(best, __shfl_xor_sync(~0u, best, d));
    return max(best & 0xffff, best >> 16);
}

// Twice through the pairs, one warp a pair: the long ones, then the others.
static __global__ void __launch_bounds__(THREADS, 5) align_all(Pairs p, int *taken)
{
    __shared__ uint2 tables[25];
    if (threadIdx.x < 25) {
        const int symbol[2] = {static_cast<int>(threadIdx.x % 5),
                               static_cast<int>(threadIdx.x / 5)};
        unsigned table[2];
        for (int half = 0; half < 2; half++) {
            table[half] = (static_cast<unsigned>(p.mismatch) & 0xff) * 0x01010101u;
            if (symbol[half] != OUTSIDE)
                table[half] ^= static_cast<unsigned>((p.match ^ p.mismatch) & 0xff)
                               << 8 * symbol[half];
        }
        tables[threadIdx.x] = make_uint2(table[0], table[1]);
    }
    __syncthreads();
    const int count = p.end - p.first;
    for (;;) {
        int turn = 0;
        if (threadIdx.x % 32 == 0)
            turn = atomicAdd(taken, 1);
        turn = __shfl_sync(~0u, turn, 0);
        if (turn >= 2 * count)
            return;
        const int pair = p.first + turn % count;
        const unsigned long long work =
            static_cast<unsigned long long>(p.offsets[0][pair + 1] - p.offsets[0][pair]) *
            (p.offsets[1][pair + 1] - p.offsets[1][pair]);
        if ((work > 2 * p.mean_work) != (turn < count))
            continue;
        const int score = align(p, tables, pair);
        if (threadIdx.x % 32 == 0)
            p.scores[pair] = score;
    }
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

// The scores fit bytes and no score falls below -1000 in 16 bits; else this.
static __global__ void align_slowly(int pairs, int match, int mismatch, int gap, const int *queries,
                                    const int *targets, const int *query_offsets,
                                    const int *target_offsets, int *rows, int *scores)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    const int begin = target_offsets[i], n = target_offsets[i + 1] - begin;
    int best = 0;
    for (int b = 0; b < n; b++)
        rows[begin + b] = 0;
    for (int a = query_offsets[i]; a < query_offsets[i + 1]; a++) {
        int left = 0, diagonal = 0;
        for (int b = begin; b < begin + n; b++) {
            const int above = rows[b];
            left = max(max(0, diagonal + (queries[a] == targets[b] ? match : mismatch)),
                       max(above, left) + gap);
            diagonal = above;
            rows[b] = left;
            best = max(best, left);
        }
    }
    scores[i] = best;
}

static void unpacked(int N, size_t query_len, size_t target_len, int match, int mismatch, int gap,
                     const int *query_seqs, const int *target_seqs, const int *query_offsets,
                     const int *target_offsets, int *scores)
{
    const size_t bytes[] = {query_len * 4, target_len * 4, (size_t(N) + 1) * 4,
                            (size_t(N) + 1) * 4};
    char *memory;
    CHECK(cudaMalloc(&memory, bytes[0] + 2 * bytes[1] + 3 * bytes[2]));
    char *at[5] = {memory};
    for (int i = 0; i < 4; i++)
        at[i + 1] = at[i] + bytes[i];
    const transfer::Array in[] = {{at[0], query_seqs, bytes[0]},
                                  {at[1], target_seqs, bytes[1]},
                                  {at[2], query_offsets, bytes[2]},
                                  {at[3], target_offsets, bytes[3]}};
    transfer::upload(in, 4);
    int *const d_scores = reinterpret_cast<int *>(at[4]);
    align_slowly<<<(N + 63) / 64, 64>>>(
        N, match, mismatch, gap, reinterpret_cast<int *>(at[0]), reinterpret_cast<int *>(at[1]),
        reinterpret_cast<int *>(at[2]), reinterpret_cast<int *>(at[3]), d_scores + N, d_scores);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(scores, d_scores, size_t(N) * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int N, int total_query_len, int total_target_len, int match_score,
                                 int mismatch_penalty, int gap_penalty, const int *query_seqs,
                                 const int *target_seqs, const int *query_offsets,
                                 const int *target_offsets, int *scores)
{
    const size_t total[2] = {static_cast<size_t>(total_query_len),
                             static_cast<size_t>(total_target_len)};
    if (match_score > 127 || mismatch_penalty < -128) {
        unpacked(N, total[0], total[1], match_score, mismatch_penalty, gap_penalty, query_seqs,
                 target_seqs, query_offsets, target_offsets, scores);
        return;
    }
    constexpr int CHUNKS_MAX = 8;
    constexpr size_t PIECE = 2048; // groups that a host thread packs at a time: half a megabyte
    const int *const symbols[2] = {query_seqs, target_seqs}, *const offsets[2] = {query_offsets,
                                                                                  target_offsets};
    const size_t groups[2] = {(total[0] + GROUP - 1) / GROUP, (total[1] + GROUP - 1) / GROUP};
    const size_t bytes = 4 * (total[0] + total[1]);
    const int chunks = bytes < (size_t(16) << 20) || N < 1024 ? 1 : 6;
    const int threads = bytes < (size_t(2) << 20)    ? 0
                        : bytes < (size_t(16) << 20) ? transfer::threads_for(4)
                                                     : transfer::threads_for(12);

    // Pairs of a chunk, the groups that end with it on both sides, and the pieces of them.
    struct Piece {
        int chunk, side;
        size_t from, to;
    };
    int pair[CHUNKS_MAX + 1];
    size_t group[CHUNKS_MAX + 1][2];
    std::vector<Piece> pieces;
    std::atomic<int> left[CHUNKS_MAX];
    for (int c = 0; c <= chunks; c++) {
        pair[c] = static_cast<int>(static_cast<long long>(N) * c / chunks);
        for (int side = 0; side < 2; side++)
            group[c][side] = (static_cast<size_t>(offsets[side][pair[c]]) + GROUP - 1) / GROUP;
    }
    for (int c = 0; c < chunks; c++) {
        const size_t before = pieces.size();
        for (int side = 0; side < 2; side++)
            for (size_t from = group[c][side]; from < group[c + 1][side]; from += PIECE)
                pieces.push_back(
                    Piece{c, side, from,
                          from + PIECE < group[c + 1][side] ? from + PIECE : group[c + 1][side]});
        left[c] = static_cast<int>(pieces.size() - before);
    }

    // On the host and at the beginning of the device's memory: offsets, then the packed symbols.
    const size_t offset_words = (static_cast<size_t>(N) + 1 + 3) / 4 * 4;
    const size_t first_word[2] = {2 * offset_words, 2 * offset_words + 4 * groups[0]},
                 words = first_word[1] + 4 * groups[1];
    unsigned *const host = static_cast<unsigned *>(malloc(words * 4));
    if (!host)
        abort();
    std::atomic<size_t> next{0};
    auto work = [&](int) {
        for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < pieces.size();) {
            const Piece &piece = pieces[i];
            pack(symbols[piece.side], total[piece.side], piece.from, piece.to,
                 host + first_word[piece.side]);
            left[piece.chunk].fetch_sub(1, std::memory_order_release);
        }
    };
    transfer::Crew<decltype(work)> crew(work, threads);

    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, align_all, THREADS, 0));
    bool edges = false;
    for (int i = 0; i < N && !edges; i++)
        edges = query_offsets[i + 1] - query_offsets[i] >= WIDEST &&
                target_offsets[i + 1] - target_offsets[i] >= WIDEST;
    const size_t edge_bytes = edges ? (total[0] + total[1]) * sizeof(short) : 0;
    const size_t counters = words * 4, scores_at = counters + CHUNKS_MAX * 4,
                 edge_at = scores_at + static_cast<size_t>(N) * 4;
    char *memory;
    const size_t all_bytes = edge_at + edge_bytes;
    if (all_bytes <= ARENA)
        CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    else
        CHECK(cudaMalloc(&memory, all_bytes));
    unsigned *const d_words = reinterpret_cast<unsigned *>(memory);
    CHECK(cudaMemsetAsync(memory + counters, 0, CHUNKS_MAX * 4));
    for (int side = 0; side < 2; side++)
        memcpy(host + side * offset_words, offsets[side], (static_cast<size_t>(N) + 1) * 4);
    Pairs p = {};
    for (int side = 0; side < 2; side++) {
        p.packed[side] = reinterpret_cast<const uint4 *>(d_words + first_word[side]);
        p.offsets[side] = reinterpret_cast<const int *>(d_words + side * offset_words);
    }
    p.mean_work = static_cast<unsigned long long>(static_cast<double>(total[0]) / N *
                                                  (static_cast<double>(total[1]) / N)) +
                  1;
    p.edge = reinterpret_cast<unsigned short *>(memory + edge_at);
    p.edge_of_targets = total[0];
    p.scores = reinterpret_cast<int *>(memory + scores_at);
    p.match = match_score, p.mismatch = mismatch_penalty, p.gap = gap_penalty;
    if (chunks > 1)
        CHECK(cudaMemcpyAsync(d_words, host, 8 * offset_words, cudaMemcpyHostToDevice));
    if (threads == 0)
        work(0);
    cudaStream_t streams[CHUNKS_MAX] = {};
    CHECK(cudaStreamSynchronize(nullptr));
    for (int c = 0; c < chunks; c++) {
        transfer::spin_until([&] { return left[c].load(std::memory_order_acquire) == 0; });
        if (chunks == 1) {
            CHECK(cudaMemcpyAsync(d_words, host, words * 4, cudaMemcpyHostToDevice));
        } else {
            CHECK(cudaStreamCreateWithFlags(&streams[c], cudaStreamNonBlocking));
            for (int side = 0; side < 2; side++) {
                const size_t from = first_word[side] + 4 * group[c][side],
                             to = first_word[side] + 4 * group[c + 1][side];
                if (from < to)
                    CHECK(cudaMemcpyAsync(d_words + from, host + from, (to - from) * 4,
                                          cudaMemcpyHostToDevice, streams[c]));
            }
        }
        p.first = pair[c], p.end = pair[c + 1];
        const int most = (p.end - p.first + THREADS / 32 - 1) / (THREADS / 32);
        const int blocks = most < processors * resident ? most : processors * resident;
        if (blocks > 0)
            align_all<<<blocks, THREADS, 0, streams[c]>>>(
                p, reinterpret_cast<int *>(memory + counters) + c);
        CHECK(cudaGetLastError());
    }
    crew.join();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(scores, p.scores, static_cast<size_t>(N) * 4, cudaMemcpyDeviceToHost));
    for (int c = 0; chunks > 1 && c < chunks; c++)
        CHECK(cudaStreamDestroy(streams[c]));
    if (all_bytes > ARENA)
        CHECK(cudaFree(memory));
    free(host);
}
