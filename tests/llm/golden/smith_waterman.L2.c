You are an expert in parallel programming. Write a C program that solves the following task as fast as
possible on the cores of one machine.

# Local alignment scores

Where do two pieces of DNA resemble each other most, and how much? The local alignment of Smith and
Waterman finds the best pair of substrings under a score for matches, mismatches and gaps. Read
filters and database searches need only the score, for many independent pairs.

Implement

    void solution_compute(int N, int total_query_len, int total_target_len, int match_score, int mismatch_penalty,
                          int gap_penalty, const int *query_seqs, const int *target_seqs, const int *query_offsets,
                          const int *target_offsets, int *scores)

with C linkage. All pointers are host memory.

| argument | shape | meaning | range |
|---|---|---|---|
| `N` | | number of pairs | at least 1 |
| `total_query_len`, `total_target_len` | | symbols in all queries, in all targets | may be 0 |
| `match_score` | | added where two symbols are equal | 1 to 5 |
| `mismatch_penalty` | | added where they differ; negative | -4 to -1 |
| `gap_penalty` | | added for each symbol left out on either side; negative | -5 to -1 |
| `query_seqs` | total_query_len | all queries, one symbol an element | 0, 1, 2, 3 (A, C, G, T) |
| `target_seqs` | total_target_len | all targets | the same |
| `query_offsets` | N+1 | query i is elements `query_offsets[i]` to `query_offsets[i+1]-1` | from 0, never descending, to the total |
| `target_offsets` | N+1 | the same for targets | |
| `scores` | N | **output**: best score of each pair | |

For query q of length m and target t of length n let H(i,0) = H(0,j) = 0 and, for i = 1..m, j =
1..n,

    H(i,j) = max(0, H(i-1,j-1) + s, H(i-1,j) + gap_penalty, H(i,j-1) + gap_penalty)
    s = match_score if q_i = t_j, else mismatch_penalty

The score is the largest H of the table; it is 0 where nothing matches or a sequence is empty.
Penalties are negative numbers that are added.

Sequences are mostly 64 to 128, 128 to 256 or 256 to 512 symbols long, a few per cent four times as
long, some empty; other instances reach 5 000. Query and target lengths are independent. Some pairs
are unrelated, others mutated copies, identical, or related at opposite ends. match_score times the
shorter length never exceeds 32 000. Scores change from call to call.

**Output.** Every score exactly.

**Rules.** Sizes, sequences and scoring change from call to call. Nothing may be kept between calls,
everything allocated must be freed, and the result must be final when the function returns.

## Interface

```c
void solution_compute(int N, int total_query_len, int total_target_len, int match_score, int mismatch_penalty, int gap_penalty, const int *query_seqs, const int *target_seqs, const int *query_offsets, const int *target_offsets, int *scores);
```

## Sizes

Nominal parameters; each call varies around them.

| size | N | length_min | length_max |
|---|---|---|---|
| small | 1000 | 64 | 128 |
| medium | 5000 | 128 | 256 |
| large | 20000 | 256 | 512 |

## What counts as right

- `scores` (N): every element must equal the expected one; NaN and infinities are wrong where a finite value is expected

## Rules

- Write one C source file that defines `solution_compute` with exactly the prototype above. It is compiled by
  `gcc -std=gnu17 -O3 -march=native -fopenmp`; OpenMP, threads and the C library may be used, nothing else.
- The time that counts runs from the call to its return, everything included.
- The result must be final when the function returns. Everything allocated must be freed. Nothing may be kept
  between calls: no static or global state, no cached buffers, handles or results. Inputs must not be changed.
- Sizes, seeds and secondary dimensions vary from call to call; special and degenerate inputs that the statement
  permits are tested too. The whole output of every call is compared.
- No files, no network, no other processes, no output.
- Answer with the complete source in one fenced code block.

## Reference

This single-thread C program defines the right answer.

```c
/* Smith-Waterman local alignment with linear gap costs, score only. The table
 *     H(i,j) = max(0, H(i-1,j-1) + s(i,j), H(i-1,j) + gap, H(i,j-1) + gap)
 * needs one row in memory: the new row overwrites the old one from left to right. */
#include <stdlib.h>

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int best_score(const int *query, int query_length, const int *target, int target_length,
                      int match, int mismatch, int gap, int *row)
{
    int best = 0;
    for (int j = 0; j <= target_length; j++)
        row[j] = 0;
    for (int i = 0; i < query_length; i++) {
        int diagonal = 0; /* H(i-1,j-1) */
        for (int j = 1; j <= target_length; j++) {
            const int above = row[j];
            int score = diagonal + (query[i] == target[j - 1] ? match : mismatch);
            score = larger(score, above + gap);
            score = larger(score, row[j - 1] + gap);
            score = larger(score, 0);
            diagonal = above;
            row[j] = score;
            best = larger(best, score);
        }
    }
    return best;
}

void solution_compute(int N, int total_query_len, int total_target_len, int match_score,
                      int mismatch_penalty, int gap_penalty, const int *query_seqs,
                      const int *target_seqs, const int *query_offsets, const int *target_offsets,
                      int *scores)
{
    (void)total_query_len;
    (void)total_target_len;
    int longest = 0;
    for (int i = 0; i < N; i++)
        longest = larger(longest, target_offsets[i + 1] - target_offsets[i]);
    int *row = malloc(((size_t)longest + 1) * sizeof *row);
    if (!row)
        return;
    for (int i = 0; i < N; i++)
        scores[i] =
            best_score(query_seqs + query_offsets[i], query_offsets[i + 1] - query_offsets[i],
                       target_seqs + target_offsets[i], target_offsets[i + 1] - target_offsets[i],
                       match_score, mismatch_penalty, gap_penalty, row);
    free(row);
}
```

## Directions

- Pairs are independent; within a table the cells of an anti-diagonal are. Scores fit 16 bits.
- A symbol takes four bytes in the input for two bits of content: at the larger sizes moving the
  data weighs as much as the arithmetic.

