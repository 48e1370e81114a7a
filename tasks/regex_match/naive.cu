/* Strings through an automaton, naive: one thread follows one string as the reference does, with the
 * current and the next set of states as lists in local memory and a bit for each state that the next
 * list has.
 *
 * What bounds it: local and scattered memory. Every thread has lists of its own and walks its own string,
 * so that no access is shared or coalesced; a warp waits for its longest string, and all symbols travel
 * as four bytes before the kernel starts. */
#include "check.cuh"

enum { STATES_MAX = 256 };

struct automaton {
    int states, symbols, start;
    const int *trans_offsets, *trans_targets, *eps_offsets, *eps_targets, *is_accept;
};

struct state_list {
    int count;
    unsigned int member[STATES_MAX / 32];
    unsigned char state[STATES_MAX];
};

__device__ void clear(state_list *list)
{
    list->count = 0;
    for (int w = 0; w < STATES_MAX / 32; w++)
        list->member[w] = 0;
}

__device__ void add(state_list *list, int state)
{
    const unsigned int bit = 1u << state % 32;
    if (list->member[state / 32] & bit)
        return;
    list->member[state / 32] |= bit;
    list->state[list->count++] = (unsigned char)state;
}

/* The list grows while it is walked. */
__device__ void close_list(const automaton *a, state_list *list)
{
    for (int k = 0; k < list->count; k++) {
        const int s = list->state[k];
        for (int e = a->eps_offsets[s]; e < a->eps_offsets[s + 1]; e++)
            add(list, a->eps_targets[e]);
    }
}

__global__ void match(automaton a, int num_strings, const int *str_offsets, const int *str_data,
                      int *results)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_strings)
        return;
    state_list lists[2];
    int now = 0;
    clear(&lists[now]);
    add(&lists[now], a.start);
    close_list(&a, &lists[now]);
    for (int k = str_offsets[i]; k < str_offsets[i + 1] && lists[now].count > 0; k++) {
        const int symbol = str_data[k];
        const state_list *from = &lists[now];
        state_list *to = &lists[now ^ 1];
        clear(to);
        if (symbol >= 0 && symbol < a.symbols) {
            for (int m = 0; m < from->count; m++) {
                const int row = from->state[m] * a.symbols + symbol;
                for (int e = a.trans_offsets[row]; e < a.trans_offsets[row + 1]; e++)
                    add(to, a.trans_targets[e]);
            }
            close_list(&a, to);
        }
        now ^= 1;
    }
    int accepted = 0;
    for (int m = 0; m < lists[now].count; m++)
        accepted |= a.is_accept[lists[now].state[m]];
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
                                 int total_chars, const int *trans_offsets, const int *trans_targets,
                                 const int *eps_offsets, const int *eps_targets, const int *is_accept,
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
    CHECK(cudaMemcpy(results, d_results, (size_t)num_strings * sizeof(int), cudaMemcpyDeviceToHost));

    int *all[] = {d_trans_offsets, d_trans_targets, d_eps_offsets, d_eps_targets,
                  d_is_accept,     d_str_offsets,   d_str_data,    d_results};
    for (int *memory : all)
        CHECK(cudaFree(memory));
}
