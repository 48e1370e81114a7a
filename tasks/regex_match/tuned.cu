// Strings through an automaton: made deterministic part by part, symbols narrowed to bytes by the
// host's threads, strings handed to lanes one by one.
//
// Approach: states that no transition connects form parts which evolve independently, and while the
// whole may need millions of subsets, each part mostly needs few. The host makes each
// deterministic, with symbols that it cannot tell apart in one class; a step is then one look-up a
// part in a table of 16-bit entries in shared memory. Where a part has too many subsets, sets of
// states are bit masks instead: the host computes for every state and symbol the mask of the states
// that follow, epsilon edges included, and a step ORs the masks of the states in the set. A lane
// follows a string, sixteen symbols a load, and takes the next string when it is done, so that
// strings of very different lengths do not wait for each other. The symbols, four bytes each, are
// narrowed to one by several host threads on the way into pinned slots; strings that have arrived
// are matched while the others are on their way.
//
// What bounds it: the host's reading of four bytes a symbol; a quarter of them cross the bus, and
// only the strings of the last batch are matched after it. At small sizes the longest string, the
// tables and the transfers.
//
// Tried: bit masks for all automata (as fast where the host's reading hides it, 0.05 ms slower at
// small); batches one after the other on one stream (three to four times slower: each batch ends
// with its longest strings, alone); four or sixteen batches, twelve threads, larger slots (equal).
//
// Measured end to end on an NVIDIA H200 with 16 virtual cores: small 0.19 ms, medium 2.9 ms, large
// 11.9 ms, at best 9.1 (14 %, 47 % and 57 % of what the bus needs for the symbols as they come;
// naive 1.6, 15 and 72 ms). An evaluation, which comes to a call with cold caches, takes 0.22 ms at
// small.
#include "transfer.cuh"

#include <array>
#include <unordered_map>
#include <vector>

constexpr int THREADS = 256;
constexpr unsigned char NO_SYMBOL = 255; // outside of the alphabet
constexpr int SYMBOLS_MAX = 255;         // that bytes can tell apart, beside NO_SYMBOL
constexpr int BATCHES_MAX = 8;
constexpr int PARTS_MAX = 8;
constexpr size_t ENTRIES_MAX = 24576; // of the tables of all parts: 48 KB of shared memory
constexpr size_t SLOT = size_t(128) << 10;

constexpr size_t ARENA = 1000 * 1000; // bytes

// Enough for small calls, which would otherwise pay more for an allocation than for their
// transfers.
static __device__ __align__(256) char arena[ARENA];

template <int WORDS> struct Set {
    unsigned word[WORDS];
};

struct Job {
    int states, symbols, in_shared;
    const unsigned *masks;  // [symbol][state][WORDS]
    const unsigned *start;  // closure of the start state, then accepting states
    const int *offsets;     // of strings
    const uint4 *symbols16; // sixteen at a time
    unsigned char *results;
};

// Takes the smallest state out of a set that is not empty.
template <int WORDS> static __device__ int take(Set<WORDS> *set)
{
    unsigned word = set->word[0];
    int number = 0;
#pragma unroll
    for (int w = 1; w < WORDS; w++)
        if (word == 0) {
            word = set->word[w];
            number = w;
        }
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        if (w == number)
            set->word[w] = word & (word - 1);
    return 32 * number + __ffs(static_cast<int>(word)) - 1;
}

template <int WORDS> static __device__ Set<WORDS> look_up(const unsigned *mask)
{
    Set<WORDS> found;
    if (WORDS % 4 == 0) {
#pragma unroll
        for (int v = 0; v < WORDS; v += 4) {
            const uint4 four = *reinterpret_cast<const uint4 *>(mask + v);
            found.word[v] = four.x, found.word[v + 1] = four.y;
            found.word[v + 2] = four.z, found.word[v + 3] = four.w;
        }
    } else if (WORDS == 2) {
        const uint2 two = *reinterpret_cast<const uint2 *>(mask);
        found.word[0] = two.x, found.word[WORDS - 1] = two.y;
    } else {
        found.word[0] = mask[0];
    }
    return found;
}

// The states that follow those of the set, two at once.
template <int WORDS> static __device__ Set<WORDS> step(const unsigned *of_symbol, Set<WORDS> set)
{
    Set<WORDS> next = {};
    for (;;) {
        unsigned any = 0;
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            any |= set.word[w];
        if (!any)
            return next;
        const int first = take(&set);
        any = 0;
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            any |= set.word[w];
        const int second = any ? take(&set) : first;
        const Set<WORDS> a = look_up<WORDS>(of_symbol + first * WORDS),
                         b = look_up<WORDS>(of_symbol + second * WORDS);
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            next.word[w] |= a.word[w] | b.word[w];
    }
}

template <int WORDS>
static __global__ void __launch_bounds__(THREADS) match(Job job, int first, int end, int *taken)
{
    extern __shared__ uint4 shared_masks[];
    const unsigned *masks = job.masks;
    if (job.in_shared) {
        unsigned *const here = reinterpret_cast<unsigned *>(shared_masks);
        for (int i = threadIdx.x; i < job.symbols * job.states * WORDS; i += THREADS)
            here[i] = masks[i];
        masks = here;
        __syncthreads();
    }
    const int lane = threadIdx.x % 32;
    Set<WORDS> start, accepting, set = {};
    for (int w = 0; w < WORDS; w++) {
        start.word[w] = job.start[w];
        accepting.word[w] = job.start[WORDS + w];
    }
    int string = -1, at = 0, to = 0; // the lane's string, and where in all symbols it is
    bool idle = false;
    uint4 sixteen = {};
    for (;;) {
        // Lanes that are done write their result and take the next string.
        const bool done = !idle && at >= to;
        const unsigned all_done = __ballot_sync(~0u, done);
        if (all_done) {
            if (done && string >= 0) {
                unsigned any = 0;
                for (int w = 0; w < WORDS; w++)
                    any |= set.word[w] & accepting.word[w];
                job.results[string] = any != 0;
            }
            int from = 0;
            const int leader = __ffs(all_done) - 1;
            if (lane == leader)
                from = atomicAdd(taken, __popc(all_done));
            from = __shfl_sync(~0u, from, leader);
            if (done) {
                string = first + from + __popc(all_done & ((1u << lane) - 1));
                idle = string >= end;
                if (!idle) {
                    at = job.offsets[string];
                    to = job.offsets[string + 1];
                    set = start;
                    if (at < to)
                        sixteen = job.symbols16[at / 16];
                }
            }
            if (__all_sync(~0u, idle))
                return;
            if (__ballot_sync(~0u, !idle && at >= to)) // empty ones
                continue;
        }
        // Up to the end of sixteen symbols.
        const int stop = min(to, (at | 15) + 1);
        if (at % 16 == 0 && at < stop)
            sixteen = job.symbols16[at / 16];
        for (; at < stop; at++) {
            const int byte = at % 16;
            const unsigned word =
                byte < 8 ? (byte < 4 ? sixteen.x : sixteen.y) : (byte < 12 ? sixteen.z : sixteen.w);
            const int symbol = static_cast<int>(word >> 8 * (byte % 4) & 0xff);
            if (symbol == NO_SYMBOL)
                set = Set<WORDS>{};
            else
                set = step(masks + symbol * job.states * WORDS, set);
            unsigned any = 0;
#pragma unroll
            for (int v = 0; v < WORDS; v++)
                any |= set.word[v];
            if (!any) { // stays empty
                at = to;
                break;
            }
        }
    }
}

// Parts of the automaton as deterministic ones. An entry is the place of the next row in the table.
struct Parts {
    int count, entries;
    const unsigned short *table; // [row][class of the symbol], part after part
    const unsigned char
        *accepts; // of the place of a row: whether its subset has an accepting state
    const unsigned char *classes;                     // [256 symbols][PARTS_MAX]
    unsigned short start[PARTS_MAX], dead[PARTS_MAX]; // places
};

template <int PARTS>
static __global__ void __launch_bounds__(THREADS)
    match_parts(Parts parts, Job job, int first, int end, int *taken)
{
    extern __shared__ uint4 shared_table[];
    __shared__ uint2 classes[256];
    unsigned short *const table = reinterpret_cast<unsigned short *>(shared_table);
    for (int i = threadIdx.x; i < parts.entries; i += THREADS)
        table[i] = parts.table[i];
    for (int i = threadIdx.x; i < 256; i += THREADS)
        classes[i] = reinterpret_cast<const uint2 *>(parts.classes)[i];
    __syncthreads();
    const int lane = threadIdx.x % 32;
    int state[PARTS] = {};
    int string = -1, at = 0, to = 0; // the lane's string, and where in all symbols it is
    bool idle = false;
    uint4 sixteen = {};
    for (;;) {
        const bool done = !idle && at >= to;
        const unsigned all_done = __ballot_sync(~0u, done);
        if (all_done) {
            if (done && string >= 0) {
                int any = 0;
#pragma unroll
                for (int p = 0; p < PARTS; p++)
                    any |= parts.accepts[state[p]];
                job.results[string] = static_cast<unsigned char>(any);
            }
            int from = 0;
            const int leader = __ffs(static_cast<int>(all_done)) - 1;
            if (lane == leader)
                from = atomicAdd(taken, __popc(all_done));
            from = __shfl_sync(~0u, from, leader);
            if (done) {
                string = first + from + __popc(all_done & ((1u << lane) - 1));
                idle = string >= end;
                if (!idle) {
                    at = job.offsets[string];
                    to = job.offsets[string + 1];
#pragma unroll
                    for (int p = 0; p < PARTS; p++)
                        state[p] = parts.start[p];
                    if (at < to)
                        sixteen = job.symbols16[at / 16];
                }
            }
            if (__all_sync(~0u, idle))
                return;
            if (__ballot_sync(~0u, !idle && at >= to)) // empty ones
                continue;
        }
        if (idle)
            continue;
        // Up to the end of sixteen symbols.
        const int stop = min(to, (at | 15) + 1);
        if (at % 16 == 0)
            sixteen = job.symbols16[at / 16];
        for (; at < stop; at++) {
            const int byte = at % 16;
            const unsigned word =
                byte < 8 ? (byte < 4 ? sixteen.x : sixteen.y) : (byte < 12 ? sixteen.z : sixteen.w);
            const uint2 of_symbol = classes[word >> 8 * (byte % 4) & 0xff];
#pragma unroll
            for (int p = 0; p < PARTS; p++)
                state[p] =
                    table[state[p] + ((p < 4 ? of_symbol.x : of_symbol.y) >> 8 * (p % 4) & 0xff)];
        }
        bool alive = false;
#pragma unroll
        for (int p = 0; p < PARTS; p++)
            alive |= state[p] != parts.dead[p];
        if (!alive) // stays so
            at = to;
    }
}

// Alphabets that bytes cannot hold: a thread a string, symbols as they are.
template <int WORDS> static __global__ void match_wide(Job job, int strings, const int *symbols)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= strings)
        return;
    Set<WORDS> set;
    for (int w = 0; w < WORDS; w++)
        set.word[w] = job.start[w];
    for (int k = job.offsets[i]; k < job.offsets[i + 1]; k++) {
        Set<WORDS> next = {};
        if (symbols[k] >= 0 && symbols[k] < job.symbols)
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                for (unsigned left = set.word[w]; left != 0; left &= left - 1) {
                    const size_t state = 32 * w + __ffs(static_cast<int>(left)) - 1;
                    const unsigned *const mask =
                        job.masks + (static_cast<size_t>(symbols[k]) * job.states + state) * WORDS;
#pragma unroll
                    for (int v = 0; v < WORDS; v++)
                        next.word[v] |= mask[v];
                }
        set = next;
    }
    unsigned any = 0;
    for (int w = 0; w < WORDS; w++)
        any |= set.word[w] & job.start[WORDS + w];
    job.results[i] = any != 0;
}

static void narrow(const int *__restrict__ from, size_t count, unsigned symbols,
                   unsigned char *__restrict__ to)
{
    for (size_t k = 0; k < count; k++) {
        const unsigned symbol = static_cast<unsigned>(from[k]);
        to[k] = static_cast<unsigned char>(symbol < symbols ? symbol : NO_SYMBOL);
    }
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

typedef std::array<unsigned, 8> Subset; // bits of up to 256 states

struct SubsetHash {
    size_t operator()(const Subset &set) const
    {
        size_t hash = 0;
        for (unsigned word : set)
            hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        return hash ^ hash >> 29;
    }
};

struct PartTables {
    std::vector<unsigned short> table;
    std::vector<unsigned char> accepts, classes;
    std::vector<unsigned short> start, dead;
};

// The part with these states, from its share of the start; false where it needs too many subsets.
static bool determinise(const Automaton &a, int words, const unsigned *masks,
                        const std::vector<int> &states, const Subset &start,
                        const unsigned *accepting, PartTables *tables)
{
    const size_t part = tables->start.size();
    auto mask = [&](int symbol, int state) {
        return masks + (static_cast<size_t>(symbol) * a.states + state) * words;
    };
    // Classes: 0 for what is no symbol, then by the first symbol of each.
    std::vector<int> example;
    for (int c = 0; c < a.symbols; c++) {
        size_t k = 0;
        for (; k < example.size(); k++) {
            bool same = true;
            for (size_t i = 0; i < states.size() && same; i++)
                same = memcmp(mask(c, states[i]), mask(example[k], states[i]), words * 4) == 0;
            if (same)
                break;
        }
        if (k == example.size())
            example.push_back(c);
        tables->classes[static_cast<size_t>(c) * PARTS_MAX + part] =
            static_cast<unsigned char>(k + 1);
    }
    const size_t row = example.size() + 1, base = tables->table.size();
    std::vector<Subset> subsets;
    std::unordered_map<Subset, size_t, SubsetHash> known;
    auto place_of = [&](const Subset &set) {
        const auto found = known.emplace(set, subsets.size());
        if (found.second)
            subsets.push_back(set);
        return base + found.first->second * row;
    };
    tables->dead.push_back(static_cast<unsigned short>(place_of(Subset{})));
    tables->start.push_back(static_cast<unsigned short>(place_of(start)));
    for (size_t k = 0; k < subsets.size(); k++) {
        if (base + subsets.size() * row > ENTRIES_MAX)
            return false;
        tables->table.push_back(tables->dead.back());
        const Subset from = subsets[k];
        for (int symbol : example) {
            Subset to = {};
            for (int w = 0; w < words; w++)
                for (unsigned left = from[w]; left != 0; left &= left - 1) {
                    const unsigned *const followers = mask(symbol, 32 * w + __builtin_ctz(left));
                    for (int v = 0; v < words; v++)
                        to[v] |= followers[v];
                }
            tables->table.push_back(static_cast<unsigned short>(place_of(to)));
        }
        unsigned any = 0;
        for (int w = 0; w < words; w++)
            any |= from[w] & accepting[w];
        tables->accepts.resize(tables->table.size(), 0);
        tables->accepts[base + k * row] = any != 0;
    }
    return true;
}

// False where the automaton has too many parts or one of them too many subsets.
static bool make_parts(const Automaton &a, int words, const unsigned *masks, PartTables *tables)
{
    const int states = a.states;
    std::vector<int> root(states);
    for (int s = 0; s < states; s++)
        root[s] = s;
    auto find = [&](int s) {
        while (root[s] != s)
            s = root[s] = root[root[s]];
        return s;
    };
    for (int c = 0; c < a.symbols; c++)
        for (int s = 0; s < states; s++) {
            const unsigned *const mask = masks + (static_cast<size_t>(c) * states + s) * words;
            for (int w = 0; w < words; w++)
                for (unsigned left = mask[w]; left != 0; left &= left - 1)
                    root[find(32 * w + __builtin_ctz(left))] = find(s);
        }
    const unsigned *const start = masks + static_cast<size_t>(states) * a.symbols * words,
                          *const accepting = start + words;
    tables->classes.assign(256 * PARTS_MAX, 0);
    for (int r = 0; r < states; r++) {
        std::vector<int> members;
        Subset from = {};
        for (int s = 0; s < states; s++)
            if (find(s) == r) {
                members.push_back(s);
                from[s / 32] |= start[s / 32] & 1u << s % 32;
            }
        if (from == Subset{}) // never in any set
            continue;
        if (tables->start.size() == PARTS_MAX ||
            !determinise(a, words, masks, members, from, accepting, tables))
            return false;
    }
    return true;
}

typedef void (*PartsKernel)(Parts, Job, int, int, int *);

static PartsKernel kernel_of(int parts)
{
    static const PartsKernel kernels[PARTS_MAX] = {match_parts<1>, match_parts<2>, match_parts<3>,
                                                   match_parts<4>, match_parts<5>, match_parts<6>,
                                                   match_parts<7>, match_parts<8>};
    return kernels[parts - 1];
}

template <int WORDS>
static void run(const Automaton &a, int num_strings, size_t total, const int *str_offsets,
                const int *str_data, int *results)
{
    const size_t strings = num_strings;
    auto aligned = [](size_t bytes) { return (bytes + 255) / 256 * 256; };
    const size_t mask_words = static_cast<size_t>(a.states) * a.symbols * WORDS;
    const bool wide = a.symbols > SYMBOLS_MAX;
    int device, processors, shared_most, resident = 1, blocks_most = 1;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    Job job = {};
    job.states = a.states, job.symbols = a.symbols;
    job.in_shared = !wide && mask_words * 4 <= static_cast<size_t>(shared_most);
    Parts parts = {};
    char *memory = nullptr;
    size_t shared_bytes = 0, counters_at = 0, symbols_at = 0, all = 0;
    // Everything but the symbols, and these too where they are here.
    auto prepare = [&](bool with_symbols) {
        PartTables tables;
        std::vector<unsigned> masks(mask_words + 2 * WORDS);
        fill_table(a, WORDS, masks.data());
        const bool by_parts = !wide && make_parts(a, WORDS, masks.data(), &tables);
        const size_t entries = tables.table.size();
        // Tables or masks, offsets, counters, symbols; results.
        const size_t accepts_at = aligned(by_parts ? entries * 2 : masks.size() * 4),
                     classes_at = accepts_at + (by_parts ? aligned(entries) : 0),
                     offsets_at = classes_at + (by_parts ? aligned(tables.classes.size()) : 0);
        counters_at = offsets_at + aligned((strings + 1) * 4);
        symbols_at = counters_at + aligned(BATCHES_MAX * 4);
        const size_t results_at = symbols_at + aligned((wide ? total * 4 : total) + 16);
        all = results_at + aligned(strings);
        if (all <= ARENA)
            CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory), arena));
        else
            CHECK(cudaMalloc(&memory, all));
        job.masks = reinterpret_cast<const unsigned *>(memory);
        job.start = job.masks + mask_words;
        job.offsets = reinterpret_cast<const int *>(memory + offsets_at);
        job.symbols16 = reinterpret_cast<const uint4 *>(memory + symbols_at);
        job.results = reinterpret_cast<unsigned char *>(memory + results_at);
        std::vector<char> host(symbols_at + (with_symbols ? total + 16 : 0));
        if (by_parts) {
            memcpy(host.data(), tables.table.data(), entries * 2);
            memcpy(host.data() + accepts_at, tables.accepts.data(), entries);
            memcpy(host.data() + classes_at, tables.classes.data(), tables.classes.size());
            parts.count = static_cast<int>(tables.start.size());
            parts.entries = static_cast<int>(entries);
            parts.table = reinterpret_cast<const unsigned short *>(memory);
            parts.accepts = reinterpret_cast<const unsigned char *>(memory + accepts_at);
            parts.classes = reinterpret_cast<const unsigned char *>(memory + classes_at);
            for (int p = 0; p < parts.count; p++) {
                parts.start[p] = tables.start[p];
                parts.dead[p] = tables.dead[p];
            }
        } else {
            memcpy(host.data(), masks.data(), masks.size() * 4);
        }
        memcpy(host.data() + offsets_at, str_offsets, (strings + 1) * 4);
        if (with_symbols)
            narrow(str_data, total, static_cast<unsigned>(a.symbols),
                   reinterpret_cast<unsigned char *>(host.data() + symbols_at));
        CHECK(cudaMemcpy(memory, host.data(), host.size(), cudaMemcpyHostToDevice));
        const void *const kernel = by_parts ? reinterpret_cast<const void *>(kernel_of(parts.count))
                                            : reinterpret_cast<const void *>(match<WORDS>);
        shared_bytes = by_parts ? (entries * 2 + 15) / 16 * 16 : job.in_shared ? mask_words * 4 : 0;
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes)));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, THREADS,
                                                            shared_bytes));
        blocks_most = processors * resident;
    };
    auto launch = [&](int first, int end, int batch, cudaStream_t stream) {
        const int wished = (end - first + THREADS - 1) / THREADS;
        const int blocks = wished < blocks_most ? wished : blocks_most;
        int *const taken = reinterpret_cast<int *>(memory + counters_at) + batch;
        if (blocks > 0 && parts.count > 0)
            kernel_of(parts.count)<<<blocks, THREADS, shared_bytes, stream>>>(parts, job, first,
                                                                              end, taken);
        else if (blocks > 0)
            match<WORDS><<<blocks, THREADS, shared_bytes, stream>>>(job, first, end, taken);
        CHECK(cudaGetLastError());
    };

    if (wide) {
        prepare(false);
        const transfer::Array in[] = {{memory + symbols_at, str_data, total * 4}};
        transfer::upload(in, 1);
        match_wide<WORDS><<<(num_strings + 127) / 128, 128>>>(
            job, num_strings, reinterpret_cast<const int *>(memory + symbols_at));
        CHECK(cudaGetLastError());
    } else if (total < SLOT) {
        prepare(true);
        launch(0, num_strings, 0, nullptr);
    } else {
        const int threads = transfer::threads_for(total < (size_t(4) << 20) ? 4 : 14);
        const transfer::Shape shape = {threads, 2 * threads, SLOT};
        cudaStream_t copying, computing[BATCHES_MAX]; // batches side by side: each ends slowly
        cudaEvent_t arrived;
        int matched = 0, batch = 0;
        const size_t pieces = (total + SLOT - 1) / SLOT;
        transfer::pipeline(
            shape, pieces,
            [&] {
                prepare(false);
                CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
                for (cudaStream_t &stream : computing)
                    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
                CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
            },
            [&](size_t piece, char *slot) {
                const size_t from = piece * SLOT, count = total - from < SLOT ? total - from : SLOT;
                narrow(str_data + from, count, static_cast<unsigned>(a.symbols),
                       reinterpret_cast<unsigned char *>(slot));
            },
            [&](size_t piece, size_t count, char *slot) {
                const size_t from = piece * SLOT, upto = (piece + count) * SLOT,
                             here = upto < total ? upto : total;
                CHECK(cudaMemcpyAsync(memory + symbols_at + from, slot, here - from,
                                      cudaMemcpyHostToDevice, copying));
                // Strings that are complete, once there are enough of them.
                if (here == total ||
                    (batch < BATCHES_MAX - 1 && here >= total * (batch + 1) / BATCHES_MAX)) {
                    int low = matched, high = num_strings;
                    while (low < high) { // last one that ends at most here
                        const int middle = low + (high - low + 1) / 2;
                        if (static_cast<size_t>(str_offsets[middle]) <= here)
                            low = middle;
                        else
                            high = middle - 1;
                    }
                    CHECK(cudaEventRecord(arrived, copying));
                    CHECK(cudaStreamWaitEvent(computing[batch], arrived, 0));
                    launch(matched, low, batch, computing[batch]);
                    batch++;
                    matched = low;
                }
                return copying;
            },
            [](size_t, char *) {});
        for (cudaStream_t stream : computing)
            CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaEventDestroy(arrived));
        CHECK(cudaStreamDestroy(copying));
        for (cudaStream_t stream : computing)
            CHECK(cudaStreamDestroy(stream));
    }
    std::vector<unsigned char> bytes(strings);
    CHECK(cudaMemcpy(bytes.data(), job.results, strings, cudaMemcpyDeviceToHost));
    if (all > ARENA)
        CHECK(cudaFree(memory));
    for (size_t i = 0; i < strings; i++)
        results[i] = bytes[i];
}

extern "C" void solution_compute(int num_states, int num_symbols, int start_state, int num_strings,
                                 int total_chars, const int *trans_offsets,
                                 const int *trans_targets, const int *eps_offsets,
                                 const int *eps_targets, const int *is_accept,
                                 const int *str_offsets, const int *str_data, int *results)
{
    const Automaton a = {num_states,    num_symbols, start_state, trans_offsets,
                         trans_targets, eps_offsets, eps_targets, is_accept};
    void (*const by_words)(const Automaton &, int, size_t, const int *, const int *, int *) =
        num_states <= 32    ? run<1>
        : num_states <= 64  ? run<2>
        : num_states <= 128 ? run<4>
                            : run<8>;
    by_words(a, num_strings, static_cast<size_t>(total_chars), str_offsets, str_data, results);
}
