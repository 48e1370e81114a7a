// Network revenue management: boxes of states, each a block that stays, passing values on to higher
// states only.
//
// Approach: a value depends on itself and on states with fewer units, one period later. States are
// cut into boxes along two directions; a block keeps its box for all periods, one thread a state,
// and waits for lower boxes only. Their values come as words whose last bit tells the turns of a
// ring apart, in the second-level cache, brought a period ahead by threads of their own, and only
// those that some sale leads to. The ring is as short as saves an allocation. No barrier of the
// grid: a chain of waiting boxes is as long as there are boxes along both directions. Outcomes that
// take the same units are one; what a sale earns does not change with time and is added up once a
// state and menu; chances are constant operands. The cut of least expected time is chosen. Where no
// cut fits, or outcomes take units in too many ways: a kernel a period.
//
// What bounds it: latency of the block's own chain at small and medium (0.45 and 0.6 us a period),
// with the multiply-adds at large (0.75 us a period).
//
// Tried: strips in the order of the states (a fifth slower at medium, a tenth faster at small);
// chances in shared memory, with one or two states a thread (no faster at large, slower at medium);
// words of value and period, in a ring of 32 periods, which has to be allocated (a third slower at
// medium, an eighth at large, 6 % faster at small) or in one that fits the arena, half as many
// periods as with the bit (a third slower at medium and large); values brought two periods ahead
// (no gain).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores (calls with cold caches, as an
// evaluation makes them, by bench/variants): small 0.077 ms, medium 0.21 ms, large 0.45 ms. The
// call floor is 28 % and 17 % of the first two. Naive: 1.7, 7.3 and 17.9 ms.
#include "check.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

using Word = unsigned; // a value, whose last bit tells the turns of the ring apart

constexpr int OUTCOMES_MAX = 65, RESOURCES_MAX = 8, MOVES_MAX = 16, MENUS_EACH = 5, CHUNKS = 4;
// Periods that a box may be ahead of those that read it. Fewer than the most, where that saves an
// allocation; below the least boxes would wait for their readers.
constexpr int RING_MOST = 32, RING_LEAST = 4;
constexpr int HALO_EACH = 2;                      // of a thread that brings values
constexpr int WIDTH_MAX = 640;                    // states of a box
constexpr double STEP_LEAST = 0.3, HAND_ON = 0.8; // us: of a period, of passing a value on

constexpr int THREADS = 128;          // of the fallback
constexpr size_t ARENA = 1040 * 1000; // bytes

// For all usual sizes: an allocation would cost as much as the rest.
static __device__ __align__(256) char arena[ARENA];

// A move is a vector of units that some outcome takes; the outcomes of a menu that take the same
// are one. Chances and revenues (times chances) are the constant operands of the multiply-adds.
struct Problem {
    int resources, moves, menus, periods, states;
    int size[RESOURCES_MAX];
    int need[MOVES_MAX][RESOURCES_MAX], offset[MOVES_MAX];
    float chance[CHUNKS][MOVES_MAX][MENUS_EACH], revenue[CHUNKS][MOVES_MAX][MENUS_EACH];
};

// States are rows of the resources that vary fastest, `rows` of them make a plane. A block has a
// box of `planes_each` planes and `rows_each` rows of each. reach: how far the farthest move leads.
// room: of states from the farthest that a box reads to its last one.
struct Cut {
    int row, rows, planes, rows_each, planes_each, row_boxes, plane_boxes, blocks;
    int reach, room, own_threads, threads, halo; // halo: states that a box reads, at most
    int rows_on, planes_on;                      // boxes further on that may read a box
    int ring;                                    // periods that the ring holds
    size_t shared_bytes;
};

static __device__ Word load(const Word *word)
{
    return *reinterpret_cast<const volatile Word *>(word);
}

// The first threads own a state each, the others bring values of earlier boxes, a period ahead,
// the last warp sees to it that no ring overflows.
template <int MOVES>
static __global__ void __launch_bounds__(1024)
    plan(const __grid_constant__ Problem p, const __grid_constant__ Cut cut, Word *ring,
         int *progress, float *out)
{
    extern __shared__ float shared[];
    __shared__ int halo;
    const int me = threadIdx.x, room = cut.room, plane = cut.rows * cut.row;
    unsigned short *const brought_from = reinterpret_cast<unsigned short *>(shared + 2 * room);
    unsigned char *const needed = reinterpret_cast<unsigned char *>(brought_from + cut.halo);
    const int plane_box = blockIdx.x / cut.row_boxes, row_box = blockIdx.x % cut.row_boxes;
    const int first_plane = plane_box * cut.planes_each, first_row = row_box * cut.rows_each;
    const int states = min(cut.rows_each, cut.rows - first_row) * cut.row, // of the box in a plane
        count = min(cut.planes_each, cut.planes - first_plane) * states;
    const int base = first_plane * plane + first_row * cut.row - cut.reach;
    const int mine = cut.reach + me / states * plane + me % states; // own state, counted from base
    const bool is_own = me < count, is_control = me >= static_cast<int>(blockDim.x) - 32;

    for (int x = me; x < 2 * room; x += blockDim.x)
        shared[x] = 0.0f;
    for (int x = me; x < room; x += blockDim.x)
        needed[x] = 0;
    __syncthreads();
    int target[MOVES];
    float fixed[CHUNKS][MENUS_EACH];
#pragma unroll
    for (int g = 0; g < CHUNKS; g++)
#pragma unroll
        for (int c = 0; c < MENUS_EACH; c++)
            fixed[g][c] = 0.0f;
#pragma unroll
    for (int m = 0; m < MOVES; m++)
        target[m] = is_own ? mine : 0;
    if (is_own) {
#pragma unroll
        for (int m = 0; m < MOVES; m++) {
            bool possible = m < p.moves;
            int rest = base + mine;
            for (int i = 0; i < p.resources; i++) {
                possible = possible && rest % p.size[i] >= p.need[m][i];
                rest /= p.size[i];
            }
            if (possible) {
                target[m] -= p.offset[m];
                needed[target[m]] = 1;
#pragma unroll
                for (int g = 0; g < CHUNKS; g++)
#pragma unroll
                    for (int c = 0; c < MENUS_EACH; c++)
                        fixed[g][c] += p.revenue[g][m][c];
            }
        }
    }
    __syncthreads();
    if (is_own)
        needed[mine] = 0;
    __syncthreads();
    if (me < 32) { // what is needed, in order
        int found = 0;
        for (int x = 0; x < room; x += 32) {
            const bool is_needed = x + me < room && needed[x + me];
            const unsigned all = __ballot_sync(~0u, is_needed);
            if (is_needed)
                brought_from[found + __popc(all & ((1u << me) - 1))] =
                    static_cast<unsigned short>(x + me);
            found += __popc(all);
        }
        if (me == 0)
            halo = found;
    }
    __syncthreads();
    const int bringers = static_cast<int>(blockDim.x) - 32 - cut.own_threads;
    int brought[HALO_EACH]; // place of a value that this thread brings
    Word ahead[HALO_EACH];  // the same for the next period
#pragma unroll
    for (int q = 0; q < HALO_EACH; q++) {
        const int h = me - cut.own_threads + q * bringers;
        brought[q] = me >= cut.own_threads && !is_control && h < halo ? brought_from[h] : -1;
        ahead[q] = 0;
    }
    const size_t stride = static_cast<size_t>(p.states);
    // Who reads this box: one lane each.
    const int plane_on = plane_box + me % 32 / (cut.rows_on + 1),
              row_on = row_box + me % 32 % (cut.rows_on + 1);
    const int reader = plane_on * cut.row_boxes + row_on;
    int read_up_to = plane_on <= plane_box + cut.planes_on && plane_on < cut.plane_boxes &&
                             row_on < cut.row_boxes && reader != static_cast<int>(blockIdx.x)
                         ? 0
                         : p.periods;

    int slot = 0;  // of this period in the ring
    Word turn = 1; // the last bit of values of this turn of the ring; it starts with zeros
    for (int t = 1; t <= p.periods; t++) {
        const int slot_ahead = slot + 1 < cut.ring ? slot + 1 : 0;
        const Word turn_ahead = slot_ahead > 0 ? turn : turn ^ 1;
        const float *const old = shared + (t - 1) % 2 * room;
        float *const now = shared + t % 2 * room;
        if (is_own) {
            float value[MOVES], best = -INFINITY;
#pragma unroll
            for (int m = 0; m < MOVES; m++)
                value[m] = old[target[m]];
#pragma unroll
            for (int g = 0; g < CHUNKS; g++)
                if (g * MENUS_EACH < p.menus) {
                    float sum[MENUS_EACH];
#pragma unroll
                    for (int c = 0; c < MENUS_EACH; c++)
                        sum[c] = fixed[g][c];
#pragma unroll
                    for (int m = 0; m < MOVES; m++)
#pragma unroll
                        for (int c = 0; c < MENUS_EACH; c++)
                            sum[c] = fmaf(p.chance[g][m][c], value[m], sum[c]);
#pragma unroll
                    for (int c = 0; c < MENUS_EACH; c++)
                        if (g * MENUS_EACH + c < p.menus)
                            best = fmaxf(best, sum[c]);
                }
            now[mine] = best;
            if (gridDim.x > 1)
                *reinterpret_cast<volatile Word *>(ring + slot * stride + base + mine) =
                    (__float_as_uint(best) & ~Word(1)) | turn;
            if (t == p.periods)
                out[base + mine] = best;
        } else {
#pragma unroll
            for (int q = 0; q < HALO_EACH; q++)
                if (brought[q] >= 0) {
                    const Word *const bring = ring + base + brought[q];
                    Word word = ahead[q];
                    ahead[q] = load(bring + slot_ahead * stride);
                    while ((word & 1) != turn)
                        word = load(bring + slot * stride);
                    now[brought[q]] = __uint_as_float(word);
                }
        }
        if (is_control && gridDim.x > 1) {
            // What was brought in earlier periods may be overwritten now.
            if (me % 32 == 0)
                *reinterpret_cast<volatile int *>(progress + blockIdx.x) = t - 1;
            while (read_up_to < t + 1 - cut.ring)
                read_up_to = *reinterpret_cast<volatile int *>(progress + reader);
        }
        slot = slot_ahead;
        turn = turn_ahead;
        __syncthreads();
    }
    if (me == 0) // nothing is read any more
        *reinterpret_cast<volatile int *>(progress + blockIdx.x) = p.periods;
}

// Any size: one period, a thread a state.
static __global__ void plan_period(int m, int n, int L, int S, const int *capacity,
                                   const float *prob, const int *cons, const float *revenue,
                                   const float *later, float *now)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= S)
        return;
    int left[RESOURCES_MAX], rest = s;
    for (int i = 0; i < m; i++) {
        left[i] = rest % (capacity[i] + 1);
        rest /= capacity[i] + 1;
    }
    float best = -INFINITY;
    const float stay = later[s];
    for (int l = 0; l < L; l++) {
        float expected = 0.0f;
        for (int k = 0; k <= n; k++) {
            const size_t row = static_cast<size_t>(l) * (n + 1) + k;
            int target = s, stride = 1;
            bool possible = true;
            for (int i = 0; i < m; i++) {
                const int need = cons[row * m + i];
                possible = possible && need <= left[i];
                target -= possible ? need * stride : 0;
                stride *= capacity[i] + 1;
            }
            expected += prob[row] * (possible ? revenue[row] + later[target] : stay);
        }
        best = fmaxf(best, expected);
    }
    now[s] = best;
}

// False where there are too many different moves or menus.
static bool gather_moves(int m, int n, int T, int L, int S, const int *capacity,
                         const float *demand_prob, const int *demand_cons,
                         const float *demand_revenue, Problem *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->resources = m;
    ret->menus = L;
    ret->periods = T;
    ret->states = S;
    for (int i = 0; i < m; i++)
        ret->size[i] = capacity[i] + 1;
    if (L > CHUNKS * MENUS_EACH)
        return false;
    ret->moves = 1; // that nothing happens
    int move_of[OUTCOMES_MAX] = {0};
    for (int l = 0; l < L; l++)
        for (int k = 0; k <= n; k++) {
            const size_t row = static_cast<size_t>(l) * (n + 1) + k;
            const int *need = demand_cons + row * m;
            int move = l > 0 ? move_of[k] : 0; // mostly the one of the menu before
            if (memcmp(ret->need[move], need, m * sizeof(int)) != 0)
                for (move = 0;
                     move < ret->moves && memcmp(ret->need[move], need, m * sizeof(int)) != 0;)
                    move++;
            if (move == MOVES_MAX)
                return false;
            if (move == ret->moves) {
                memcpy(ret->need[move], need, m * sizeof(int));
                long long stride = 1, offset = 0;
                for (int i = 0; i < m; i++) {
                    offset += std::min(need[i], capacity[i]) * stride; // more is never possible
                    stride *= ret->size[i];
                }
                ret->offset[move] = static_cast<int>(offset);
                ret->moves++;
            }
            move_of[k] = move;
            const int g = l / MENUS_EACH, c = l % MENUS_EACH;
            ret->chance[g][move][c] += demand_prob[row];
            ret->revenue[g][move][c] += demand_prob[row] * demand_revenue[row];
        }
    return true;
}

// What depends on the shape of the boxes; false where they are not possible.
static bool measure_boxes(const Problem &p, int first_dimension, int shared_most, Cut *cut)
{
    const int plane = cut->rows * cut->row, own = cut->planes_each * cut->rows_each * cut->row;
    const int span = (cut->planes_each - 1) * plane + cut->rows_each * cut->row;
    cut->own_threads = (own + 31) / 32 * 32;
    cut->reach = cut->halo = cut->rows_on = cut->planes_on = 0;
    if (cut->blocks > 1) {
        for (int m = 0; m < p.moves; m++) {
            const int on = std::min(p.need[m][first_dimension], p.size[first_dimension] - 1);
            cut->reach = std::max(cut->reach, p.offset[m]);
            cut->rows_on = std::max(cut->rows_on, (on + cut->rows_each - 1) / cut->rows_each);
            cut->planes_on = std::max(cut->planes_on, (p.offset[m] / plane + cut->planes_each - 1) /
                                                          cut->planes_each);
        }
        cut->rows_on = std::min(cut->rows_on, cut->row_boxes - 1);
        cut->planes_on = std::min(cut->planes_on, cut->plane_boxes - 1);
        if ((cut->rows_on + 1) * (cut->planes_on + 1) > 32)
            return false;
    }
    cut->room = cut->reach + span;
    if (cut->blocks > 1) {
        if (cut->room > 65535)
            return false;
        // As many as a box reads all of whose moves are possible.
        std::vector<unsigned char> seen(cut->room, 0);
        const int states = cut->rows_each * cut->row;
        for (int z = 0; z < cut->planes_each; z++) {
            const int first = cut->reach + z * plane;
            for (int m = 0; m < p.moves; m++)
                memset(&seen[first - p.offset[m]], 1, states);
        }
        for (int z = 0; z < cut->planes_each; z++)
            memset(&seen[cut->reach + z * plane], 0, states);
        for (unsigned char place : seen)
            cut->halo += place;
    }
    const int bringers =
        std::min((cut->halo + 31) / 32 * 32, std::max(0, 1024 - 32 - cut->own_threads));
    cut->threads = cut->own_threads + bringers + 32;
    cut->shared_bytes = 2 * sizeof(float) * static_cast<size_t>(cut->room) +
                        sizeof(unsigned short) * cut->halo + cut->room;
    return cut->threads <= 1024 && bringers * HALO_EACH >= cut->halo &&
           cut->shared_bytes + 64 <= static_cast<size_t>(shared_most);
}

// The cut of least expected time above `rejected`, and the resource whose units are its rows. A
// chain of waiting boxes is as long as there are boxes along both directions.
static double best_cut(const Problem &p, int processors, double rejected, Cut *ret,
                       int *ret_dimension)
{
    double least = 1e30;
    const double per_warp = (p.menus * p.moves + 2.0 * p.moves + 30) / 4 * 0.0006; // us
    for (int d = 0, row = 1; d < p.resources; row *= p.size[d++]) {
        Cut cut;
        cut.row = row;
        cut.rows = p.size[d];
        cut.planes = p.states / (row * cut.rows);
        for (int rows_wished = 1; rows_wished <= cut.rows && rows_wished <= processors;
             rows_wished++) {
            cut.rows_each = (cut.rows + rows_wished - 1) / rows_wished;
            cut.row_boxes = (cut.rows + cut.rows_each - 1) / cut.rows_each;
            if (cut.row_boxes != rows_wished || cut.rows_each * row > WIDTH_MAX)
                continue;
            const int most = std::min(cut.planes, processors / cut.row_boxes);
            // No more boxes along the planes than there are processors for, or somewhat fewer.
            for (int wished = most; wished > 0 && wished > most / 2; wished--) {
                cut.planes_each = (cut.planes + wished - 1) / wished;
                cut.plane_boxes = (cut.planes + cut.planes_each - 1) / cut.planes_each;
                const int states = cut.planes_each * cut.rows_each * row,
                          warps = (states + 31) / 32;
                if (cut.plane_boxes != wished || states > WIDTH_MAX)
                    continue;
                cut.blocks = cut.row_boxes * cut.plane_boxes;
                const double step = STEP_LEAST + per_warp * ((warps + 3) / 4 * 4);
                const int chain = cut.blocks > 1 ? cut.plane_boxes + cut.row_boxes : 0;
                const double time = p.periods * step + chain * (HAND_ON + step);
                if (time < least && time > rejected) {
                    least = time;
                    *ret = cut;
                    *ret_dimension = d;
                }
            }
        }
    }
    return least;
}

static bool find_cut(const Problem &p, int processors, int shared_most, Cut *ret)
{
    double time = 0;
    int dimension = 0;
    for (int tries = 0; tries < 20; tries++) {
        time = best_cut(p, processors, time, ret, &dimension);
        if (time == 1e30)
            return false;
        if (measure_boxes(p, dimension, shared_most, ret))
            return true;
    }
    return false;
}

template <int MOVES>
static void launch(Problem problem, Cut cut, Word *ring, int *progress, float *out)
{
    CHECK(cudaFuncSetAttribute(plan<MOVES>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(cut.shared_bytes)));
    void *arguments[] = {&problem, &cut, &ring, &progress, &out};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(plan<MOVES>), cut.blocks,
                                      cut.threads, arguments, cut.shared_bytes));
}

// Strips are not possible: a kernel a period.
static void period_by_period(int m, int n, int T, int L, int S, const int *capacity,
                             const float *demand_prob, const int *demand_cons,
                             const float *demand_revenue, float *V_out)
{
    const size_t rows = static_cast<size_t>(L) * (n + 1), values = static_cast<size_t>(S);
    float *memory;
    CHECK(cudaMalloc(&memory, (2 * values + rows * (2 + m) + m) * sizeof(float)));
    float *later = memory, *now = later + values, *prob = now + values, *revenue = prob + rows;
    int *cons = reinterpret_cast<int *>(revenue + rows), *d_capacity = cons + rows * m;
    CHECK(cudaMemcpy(prob, demand_prob, rows * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(revenue, demand_revenue, rows * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(cons, demand_cons, rows * m * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_capacity, capacity, m * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemsetAsync(later, 0, values * sizeof(float)));
    for (int t = 0; t < T; t++) {
        plan_period<<<(S + THREADS - 1) / THREADS, THREADS>>>(m, n, L, S, d_capacity, prob, cons,
                                                              revenue, later, now);
        CHECK(cudaGetLastError());
        std::swap(later, now);
    }
    CHECK(cudaMemcpy(V_out, later, values * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(memory));
}

extern "C" void solution_compute(int m, int n, int T, int L, int S, const int *capacity,
                                 const int *consumption, const float *demand_prob,
                                 const int *demand_cons, const float *demand_revenue, float *V_out)
{
    (void)consumption; // what every outcome takes is in demand_cons
    const size_t out_bytes = static_cast<size_t>(S) * sizeof(float);
    if (T == 0) {
        memset(V_out, 0, out_bytes);
        return;
    }
    int device, processors, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    Problem problem;
    Cut cut;
    const size_t values = (out_bytes + 255) / 256 * 256;
    if (!gather_moves(m, n, T, L, S, capacity, demand_prob, demand_cons, demand_revenue,
                      &problem) ||
        !find_cut(problem, processors, shared_most, &cut)) {
        period_by_period(m, n, T, L, S, capacity, demand_prob, demand_cons, demand_revenue, V_out);
        return;
    }
    const size_t progress_bytes = (static_cast<size_t>(cut.blocks) * sizeof(int) + 255) / 256 * 256;
    const size_t period_bytes = static_cast<size_t>(S) * sizeof(Word),
                 fit = ARENA > values + progress_bytes
                           ? (ARENA - values - progress_bytes) / period_bytes
                           : 0;
    cut.ring = fit < RING_LEAST || fit > RING_MOST ? RING_MOST : static_cast<int>(fit);
    const size_t ring_bytes = cut.blocks > 1 ? cut.ring * period_bytes : 0;
    const size_t bytes = values + progress_bytes + ring_bytes;
    char *memory, *allocated = nullptr;
    if (bytes > ARENA)
        CHECK(cudaMalloc(&allocated, bytes));
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
    if (allocated)
        memory = allocated;
    float *out = reinterpret_cast<float *>(memory);
    int *progress = reinterpret_cast<int *>(memory + values);
    Word *ring = reinterpret_cast<Word *>(memory + values + progress_bytes);
    if (cut.blocks > 1)
        CHECK(cudaMemsetAsync(progress, 0, progress_bytes + ring_bytes));
    if (problem.moves <= 5)
        launch<5>(problem, cut, ring, progress, out);
    else if (problem.moves <= 7)
        launch<7>(problem, cut, ring, progress, out);
    else if (problem.moves <= 9)
        launch<9>(problem, cut, ring, progress, out);
    else
        launch<MOVES_MAX>(problem, cut, ring, progress, out);
    CHECK(cudaMemcpy(V_out, out, out_bytes, cudaMemcpyDeviceToHost));
    if (allocated)
        CHECK(cudaFree(allocated));
}
