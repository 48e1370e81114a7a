/* Thompson's simulation: the set of states that the automaton can be in, symbol after symbol. A set
 * is a list of states, with a mark for each state that tells whether the list of this step has it.
 */
#include <stddef.h>
#include <stdlib.h>

struct simulation {
    int *current, *next; /* lists of states */
    size_t *mark;        /* the last step in whose list the state was */
    size_t step;
};

/* Appends all that epsilon edges lead to. */
static int close_list(struct simulation *sim, int *list, int count, const int *eps_offsets,
                      const int *eps_targets)
{
    for (int k = 0; k < count; k++)
        for (int e = eps_offsets[list[k]]; e < eps_offsets[list[k] + 1]; e++) {
            const int target = eps_targets[e];
            if (sim->mark[target] != sim->step) {
                sim->mark[target] = sim->step;
                list[count++] = target;
            }
        }
    return count;
}

void solution_compute(int num_states, int num_symbols, int start_state, int num_strings,
                      int total_chars, const int *trans_offsets, const int *trans_targets,
                      const int *eps_offsets, const int *eps_targets, const int *is_accept,
                      const int *str_offsets, const int *str_data, int *results)
{
    (void)total_chars;
    struct simulation sim = {
        .current = malloc((size_t)num_states * sizeof(int)),
        .next = malloc((size_t)num_states * sizeof(int)),
        .mark = calloc((size_t)num_states, sizeof(size_t)),
    };
    for (int i = 0; i < num_strings && sim.current && sim.next && sim.mark; i++) {
        sim.step++;
        sim.current[0] = start_state;
        sim.mark[start_state] = sim.step;
        int count = close_list(&sim, sim.current, 1, eps_offsets, eps_targets);

        for (int k = str_offsets[i]; k < str_offsets[i + 1] && count > 0; k++) {
            const int symbol = str_data[k];
            sim.step++;
            int reached = 0;
            if (symbol >= 0 && symbol < num_symbols) {
                for (int s = 0; s < count; s++) {
                    const size_t row =
                        (size_t)sim.current[s] * (size_t)num_symbols + (size_t)symbol;
                    for (int e = trans_offsets[row]; e < trans_offsets[row + 1]; e++) {
                        const int target = trans_targets[e];
                        if (sim.mark[target] != sim.step) {
                            sim.mark[target] = sim.step;
                            sim.next[reached++] = target;
                        }
                    }
                }
                reached = close_list(&sim, sim.next, reached, eps_offsets, eps_targets);
            }
            int *swapped = sim.current;
            sim.current = sim.next;
            sim.next = swapped;
            count = reached;
        }

        results[i] = 0;
        for (int s = 0; s < count; s++)
            if (is_accept[sim.current[s]])
                results[i] = 1;
    }
    free(sim.current);
    free(sim.next);
    free(sim.mark);
}
