// step: M11 on naive.cu
// A set of states is 256 bits in eight registers instead of a list in local memory with a mark for
// every state. Whether a state is in it, and adding one, are bit operations, and the set is walked
// by its lowest bits.
#include "check.cuh"

enum { STATES_MAX = 256, WORDS = STATES_MAX / 32 };

struct automaton {
    int states, symbols, start;
    const int *trans_offsets, *trans_targets, *eps_offsets, *eps_targets, *is_accept;
};

struct state_set {
    unsigned int word[WORDS];
};

/* The word is chosen by comparison, so that the set stays in registers. */
__device__ void add(state_set *set, int state)
{
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        set->word[w] |= state / 32 == w ? 1u << state % 32 : 0u;
}

/* Takes the smallest state out of the set; -1 where there is none. */
__device__ int take(state_set *set)
{
    int state = -1;
#pragma unroll
    for (int w = WORDS - 1; w >= 0; w--)
        if (set->word[w])
            state = 32 * w + __ffs((int)set->word[w]) - 1;
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        if (state >= 0 && state / 32 == w)
            set->word[w] &= set->word[w] - 1;
    return state;
}

__device__ void close_set(const automaton *a, state_set *set)
{
    state_set left = *set;
    for (int s; (s = take(&left)) >= 0;)
        for (int e = a->eps_offsets[s]; e < a->eps_offsets[s + 1]; e++) {
            state_set target = {};
            add(&target, a->eps_targets[e]);
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                left.word[w] |= target.word[w] & ~set->word[w];
                set->word[w] |= target.word[w];
            }
        }
}

__global__ void match(automaton a, int num_strings, const int *str_offsets, const int *str_data,
                      int *results)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_strings)
        return;
    state_set set = {};
    add(&set, a.start);
    close_set(&a, &set);
    for (int k = str_offsets[i]; k < str_offsets[i + 1]; k++) {
        const int symbol = str_data[k];
        state_set next = {};
        if (symbol >= 0 && symbol < a.symbols) {
            for (int s; (s = take(&set)) >= 0;) {
                const int row = s * a.symbols + symbol;
                for (int e = a.trans_offsets[row]; e < a.trans_offsets[row + 1]; e++)
                    add(&next, a.trans_targets[e]);
            }
            close_set(&a, &next);
        }
        set = next;
        unsigned int any = 0;
        for (int w = 0; w < WORDS; w++)
            any |= set.word[w];
        if (!any)
            break;
    }
    int accepted = 0;
    for (int s; (s = take(&set)) >= 0;)
        accepted |= a.is_accept[s];
    results[i] = accepted;
}

/* Empty arrays (no epsilon edge, no symbol) get a place too. */
static int *upload(const int *host, size_t count)
{
    int *device;
    CHECK(cudaMalloc((void **)&device, (count + 1) * sizeof(int)));
    CHECK(cudaMemcpy(device, host, count * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

extern "C" void solution_compute(int num_states, int num_symbols, int start_state, int num_strings,
                                 int total_chars, const int *trans_offsets,
                                 const int *trans_targets, const int *eps_offsets,
                                 const int *eps_targets, const int *is_accept,
                                 const int *str_offsets, const int *str_data, int *results)
{
    const size_t rows = (size_t)num_states * num_symbols;
    int *d_trans_offsets = upload(trans_offsets, rows + 1);
    int *d_trans_targets = upload(trans_targets, trans_offsets[rows]);
    int *d_eps_offsets = upload(eps_offsets, num_states + 1);
    int *d_eps_targets = upload(eps_targets, eps_offsets[num_states]);
    int *d_is_accept = upload(is_accept, num_states);
    int *d_str_offsets = upload(str_offsets, (size_t)num_strings + 1);
    int *d_str_data = upload(str_data, total_chars);
    int *d_results;
    CHECK(cudaMalloc((void **)&d_results, (size_t)num_strings * sizeof(int)));

    const automaton a = {num_states,      num_symbols,   start_state,   d_trans_offsets,
                         d_trans_targets, d_eps_offsets, d_eps_targets, d_is_accept};
    const int threads = 128, blocks = (num_strings - 1) / threads + 1;
    match<<<blocks, threads>>>(a, num_strings, d_str_offsets, d_str_data, d_results);
    CHECK(cudaGetLastError());
    CHECK(
        cudaMemcpy(results, d_results, (size_t)num_strings * sizeof(int), cudaMemcpyDeviceToHost));

    int *all[] = {d_trans_offsets, d_trans_targets, d_eps_offsets, d_eps_targets,
                  d_is_accept,     d_str_offsets,   d_str_data,    d_results};
    for (int *memory : all)
        CHECK(cudaFree(memory));
}
