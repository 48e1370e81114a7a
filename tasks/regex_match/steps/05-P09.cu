// step: P09 on 04-M03.cu
// Blocks of 512 threads instead of 128, with registers capped for that: shared memory holds few
// copies of the masks, so that a multiprocessor has as many threads as its blocks are large.
#include "check.cuh"

#include <vector>

template <int WORDS> struct state_set {
    unsigned int word[WORDS];
};

constexpr int THREADS = 512;

/* masks: [symbol][state][WORDS], then those of the start and of the accepting states. */
template <int WORDS>
__global__ void __launch_bounds__(THREADS)
    match(int states, int symbols, const unsigned int *masks, int in_shared, int num_strings,
          const int *str_offsets, const int *str_data, int *results)
{
    const unsigned int *const ends = masks + (size_t)states * symbols * WORDS;
    extern __shared__ uint4 staged[];
    if (in_shared) {
        unsigned int *const here = (unsigned int *)staged;
        for (int k = threadIdx.x; k < states * symbols * WORDS; k += blockDim.x)
            here[k] = masks[k];
        masks = here;
        __syncthreads();
    }
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_strings)
        return;
    state_set<WORDS> set;
    for (int w = 0; w < WORDS; w++)
        set.word[w] = ends[w];
    for (int k = str_offsets[i]; k < str_offsets[i + 1]; k++) {
        const int symbol = str_data[k];
        state_set<WORDS> next = {};
        if (symbol >= 0 && symbol < symbols) {
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                for (unsigned int left = set.word[w]; left; left &= left - 1) {
                    const int state = 32 * w + __ffs((int)left) - 1;
                    const unsigned int *const mask =
                        masks + ((size_t)symbol * states + state) * WORDS;
#pragma unroll
                    for (int v = 0; v < WORDS; v++)
                        next.word[v] |= mask[v];
                }
        }
        set = next;
        unsigned int any = 0;
        for (int w = 0; w < WORDS; w++)
            any |= set.word[w];
        if (!any)
            break;
    }
    unsigned int accepted = 0;
    for (int w = 0; w < WORDS; w++)
        accepted |= set.word[w] & ends[WORDS + w];
    results[i] = accepted != 0;
}

struct Automaton {
    int states, symbols, start;
    const int *trans_offsets, *trans_targets, *eps_offsets, *eps_targets, *is_accept;
};

// table: the masks of all symbols and states, then closure of the start and accepting states.
static void fill_table(const Automaton &a, int words, unsigned *table)
{
    const size_t states = a.states;
    std::vector<unsigned> closure(states * words, 0);
    std::vector<int> list(states);
    for (size_t s = 0; s < states; s++) {
        unsigned *const mine = &closure[s * words];
        int count = 0;
        auto add = [&](int t) {
            if (!(mine[t / 32] >> t % 32 & 1)) {
                mine[t / 32] |= 1u << t % 32;
                list[count++] = t;
            }
        };
        add(static_cast<int>(s));
        for (int k = 0; k < count; k++)
            for (int e = a.eps_offsets[list[k]]; e < a.eps_offsets[list[k] + 1]; e++)
                add(a.eps_targets[e]);
    }
    for (size_t s = 0; s < states; s++)
        for (size_t c = 0; c < static_cast<size_t>(a.symbols); c++) {
            unsigned *const mask = table + (c * states + s) * words;
            for (int w = 0; w < words; w++)
                mask[w] = 0;
            const size_t row = s * a.symbols + c;
            for (int e = a.trans_offsets[row]; e < a.trans_offsets[row + 1]; e++)
                for (int w = 0; w < words; w++)
                    mask[w] |= closure[static_cast<size_t>(a.trans_targets[e]) * words + w];
        }
    unsigned *const ends = table + states * a.symbols * words;
    for (int w = 0; w < words; w++) {
        ends[w] = closure[static_cast<size_t>(a.start) * words + w];
        ends[words + w] = 0;
    }
    for (size_t s = 0; s < states; s++)
        if (a.is_accept[s])
            ends[words + s / 32] |= 1u << s % 32;
}

/* Empty arrays (no symbol) get a place too. */
static unsigned int *upload(const void *host, size_t count)
{
    unsigned int *device;
    CHECK(cudaMalloc(&device, (count + 1) * sizeof(int)));
    CHECK(cudaMemcpy(device, host, count * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

template <int WORDS>
static void run(const Automaton &a, int num_strings, int total_chars, const int *str_offsets,
                const int *str_data, int *results)
{
    std::vector<unsigned int> table(((size_t)a.states * a.symbols + 2) * WORDS);
    fill_table(a, WORDS, table.data());
    unsigned int *masks = upload(table.data(), table.size());
    int *d_str_offsets = (int *)upload(str_offsets, (size_t)num_strings + 1),
        *d_str_data = (int *)upload(str_data, total_chars);
    int *d_results;
    CHECK(cudaMalloc(&d_results, (size_t)num_strings * sizeof(int)));
    int device, shared_most;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    const size_t bytes = (size_t)a.states * a.symbols * WORDS * sizeof(int);
    const int in_shared = bytes <= (size_t)shared_most;
    CHECK(cudaFuncSetAttribute(match<WORDS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               in_shared ? (int)bytes : 0));
    const int blocks = (num_strings - 1) / THREADS + 1;
    match<WORDS><<<blocks, THREADS, in_shared ? bytes : 0>>>(
        a.states, a.symbols, masks, in_shared, num_strings, d_str_offsets, d_str_data, d_results);
    CHECK(cudaGetLastError());
    CHECK(
        cudaMemcpy(results, d_results, (size_t)num_strings * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(masks));
    CHECK(cudaFree(d_str_offsets));
    CHECK(cudaFree(d_str_data));
    CHECK(cudaFree(d_results));
}

extern "C" void solution_compute(int num_states, int num_symbols, int start_state, int num_strings,
                                 int total_chars, const int *trans_offsets,
                                 const int *trans_targets, const int *eps_offsets,
                                 const int *eps_targets, const int *is_accept,
                                 const int *str_offsets, const int *str_data, int *results)
{
    const Automaton a = {num_states,    num_symbols, start_state, trans_offsets,
                         trans_targets, eps_offsets, eps_targets, is_accept};
    void (*const by_words)(const Automaton &, int, int, const int *, const int *, int *) =
        num_states <= 32    ? run<1>
        : num_states <= 64  ? run<2>
        : num_states <= 128 ? run<4>
                            : run<8>;
    by_words(a, num_strings, total_chars, str_offsets, str_data, results);
}
