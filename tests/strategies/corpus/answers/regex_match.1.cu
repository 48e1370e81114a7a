// For automata of at most 64 states: a set is one 64-bit word, transitions come through a texture.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__global__ void run(cudaTextureObject_t table, int states, int symbols, unsigned long long start,
                    unsigned long long accept, int count, const int *offsets, const unsigned char *text, int *results)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned long long set = start;
    for (int k = offsets[i], e = offsets[i + 1]; k < e; k++) {
        const int c = text[k];
        unsigned long long next = 0;
        if (c < symbols)
            while (set) {
                const int s = __ffsll(set) - 1;
                set &= set - 1;
                const uint2 w = tex1Dfetch<uint2>(table, c * states + s);
                next |= (unsigned long long)w.y << 32 | w.x;
            }
        set = next;
        if (set == 0)
            break;
    }
    results[i] = (set & accept) != 0;
}

static uint64_t closure_of(int s, const int *eo, const int *et)
{
    uint64_t set = 1ull << s, todo = set;
    while (todo) {
        int v = __builtin_ctzll(todo);
        todo &= todo - 1;
        for (int e = eo[v]; e < eo[v + 1]; e++)
            if (!(set >> et[e] & 1)) {
                set |= 1ull << et[e];
                todo |= 1ull << et[e];
            }
    }
    return set;
}

extern "C" void solution_compute(int num_states, int num_symbols, int start_state, int num_strings, int total_chars,
                                 const int *trans_offsets, const int *trans_targets, const int *eps_offsets,
                                 const int *eps_targets, const int *is_accept, const int *str_offsets,
                                 const int *str_data, int *results)
{
    if (num_states > 64)
        abort();
    uint64_t closure[64], accept = 0;
    size_t entries = (size_t)num_states * num_symbols;
    uint64_t *table = (uint64_t *)calloc(entries, 8);
    for (int s = 0; s < num_states; s++) {
        closure[s] = closure_of(s, eps_offsets, eps_targets);
        accept |= (uint64_t)(is_accept[s] != 0) << s;
    }
    for (int s = 0; s < num_states; s++)
        for (int c = 0; c < num_symbols; c++)
            for (int e = trans_offsets[s * num_symbols + c]; e < trans_offsets[s * num_symbols + c + 1]; e++)
                table[(size_t)c * num_states + s] |= closure[trans_targets[e]];
    unsigned char *bytes = (unsigned char *)malloc(total_chars + 1);
    for (int k = 0; k < total_chars; k++)
        bytes[k] = str_data[k] < 0 || str_data[k] > 254 ? 255 : (unsigned char)str_data[k];

    void *d_table, *d_text;
    int *d_off, *d_res;
    cudaMalloc(&d_table, entries * 8);
    cudaMalloc(&d_text, total_chars + 1);
    cudaMalloc(&d_off, (num_strings + 1) * sizeof(int));
    cudaMalloc(&d_res, num_strings * sizeof(int));
    cudaMemcpy(d_table, table, entries * 8, cudaMemcpyHostToDevice);
    cudaMemcpy(d_text, bytes, total_chars, cudaMemcpyHostToDevice);
    cudaMemcpy(d_off, str_offsets, (num_strings + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaResourceDesc rd;
    memset(&rd, 0, sizeof rd);
    rd.resType = cudaResourceTypeLinear;
    rd.res.linear.devPtr = d_table;
    rd.res.linear.desc = cudaCreateChannelDesc<uint2>();
    rd.res.linear.sizeInBytes = entries * 8;
    cudaTextureDesc td;
    memset(&td, 0, sizeof td);
    td.readMode = cudaReadModeElementType;
    cudaTextureObject_t tex;
    cudaCreateTextureObject(&tex, &rd, &td, NULL);
    run<<<(num_strings + 127) / 128, 128>>>(tex, num_states, num_symbols, closure[start_state], accept, num_strings,
                                            d_off, (const unsigned char *)d_text, d_res);
    cudaMemcpy(results, d_res, num_strings * sizeof(int), cudaMemcpyDeviceToHost);
    cudaDestroyTextureObject(tex);
    cudaFree(d_table); cudaFree(d_text); cudaFree(d_off); cudaFree(d_res);
    free(table);
    free(bytes);
}
