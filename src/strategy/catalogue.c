#include "strategy/strategy.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

#define MEMORY   .class = AE_CLASS_MEMORY
#define COMPUTE  .class = AE_CLASS_COMPUTE
#define PARALLEL .class = AE_CLASS_PARALLEL
#define BALANCE  .class = AE_CLASS_BALANCE
#define HOST     .class = AE_CLASS_HOST
#define STRUCTURAL .kind = AE_STRATEGY_STRUCTURAL
#define LOCAL      .kind = AE_STRATEGY_LOCAL
#define SOURCE  AE_EVIDENCE_SOURCE
#define BINARY  AE_EVIDENCE_BINARY
#define RUN     AE_EVIDENCE_RUN
#define READING AE_EVIDENCE_READING
#define ROW(which, title) [AE_STRATEGY_##which] = {.id = #which, .name = title

const struct ae_strategy ae_strategies[AE_STRATEGY_COUNT] = {
    ROW(M01, "coalesced access"), MEMORY, LOCAL, .evidence = SOURCE,
        .definition = "In the accesses to global memory that are made most often, neighbouring threads touch "
                      "neighbouring "
                      "addresses.",
        .pays = "Nearly always where memory is the bound: a warp's 32 words then come in 4 sectors instead of 32.",
        .is_not = "An index that is linear in the thread only on its way through a gather, a[index[i]]."},
    ROW(M02, "layout change"), MEMORY, STRUCTURAL, .evidence = SOURCE,
        .definition = "Input is laid out anew before the main kernels: structures of arrays, transposed, packed, rows "
                      "in another order.",
        .pays = "Where the same input is read many times in an order that its own layout does not serve.",
        .is_not = "A plain copy to the device, and a tile turned inside shared memory."},
    ROW(M03, "shared-memory tiling"), MEMORY, STRUCTURAL, .evidence = SOURCE,
        .definition = "A tile of global data is staged in shared memory and read several times by the threads of the "
                      "block.",
        .pays = "Where neighbouring threads need the same data and the caches do not hold it long enough.",
        .is_not = "Shared memory that only serves a reduction, a counter or the exchange of results."},
    ROW(M04, "register tiling"), MEMORY, STRUCTURAL, .evidence = SOURCE | BINARY,
        .definition = "A thread keeps a small tile of results or operands in registers, so that a loaded operand "
                      "serves "
                      "several outputs.",
        .pays = "In products and stencils whose inner loop is bound by loads rather than by arithmetic.",
        .is_not = "A local array that is indexed at run time, or that spills to local memory."},
    ROW(M05, "vector loads and stores"), MEMORY, LOCAL, .evidence = SOURCE | BINARY,
        .definition = "A thread loads or stores 8 or 16 bytes of global memory with one instruction.",
        .pays = "Where a kernel streams through aligned data and issues too many memory instructions.",
        .is_not = "Vector types that only carry values between functions."},
    ROW(M06, "read-only path"), MEMORY, LOCAL, .evidence = SOURCE | BINARY,
        .definition = "Data that no kernel changes are loaded through the read-only path: __ldg, const __restrict__ "
                      "pointers, texture objects.",
        .pays = "Little and often: the compiler may keep loads in flight and reuse them across stores.",
        .is_not = "__restrict__ on pointers that are written only."},
    ROW(M07, "constant memory"), MEMORY, LOCAL, .evidence = SOURCE,
        .definition = "A small table that all threads read at the same place lies in __constant__ memory.",
        .pays = "Where a warp reads one entry at a time: it is then broadcast at the speed of a register.",
        .is_not = "constexpr values and macros, which the compiler puts into instructions."},
    ROW(M08, "bank-conflict avoidance"), MEMORY, LOCAL, .evidence = SOURCE,
        .definition = "Shared arrays are padded or their indices swizzled, so that a warp's accesses fall into "
                      "different "
                      "banks.",
        .pays = "Where a tile in shared memory is written along rows and read along columns.",
        .is_not = "An inner size that is odd by chance, or that has room for a halo."},
    ROW(M09, "asynchronous staging"), MEMORY, STRUCTURAL, .evidence = SOURCE | BINARY,
        .definition = "Copies from global to shared memory go on while the block computes on an earlier buffer: "
                      "cp.async, "
                      "memcpy_async, bulk copies, or two buffers filled in turn.",
        .pays = "In tiled kernels with too few warps to hide the latency of the next tile.",
        .is_not = "Buffers that are exchanged between launches."},
    ROW(M10, "on-chip residency"), MEMORY, STRUCTURAL, .evidence = SOURCE,
        .definition = "The state of an item stays in shared memory or registers over all of its steps; global "
                      "memory sees "
                      "the first read and the last write.",
        .pays = "In recurrences and iterations whose state fits a block: each step then costs no traffic and no "
                "launch.",
        .is_not = "One launch a step, and a plain accumulator of a sum."},
    ROW(M11, "compact representation"), MEMORY, STRUCTURAL, .evidence = SOURCE,
        .definition = "Data are kept narrower than the interface has them: sets as bit masks, codes of 8 or 16 bits, "
                      "packed pairs.",
        .pays = "Where bytes are the bound, or where one instruction on a word does the work of many on elements.",
        .is_not = "Shifts and masks that only compute an index."},
    ROW(M12, "locality ordering"), MEMORY, STRUCTURAL, .evidence = SOURCE,
        .definition = "Work or data are ordered so that what is close in time shares cache lines: sorted by cell or "
                      "key, "
                      "along a space-filling curve, blocks swizzled, lines kept in L2 by a window.",
        .pays = "In irregular access over data larger than the caches.",
        .is_not = "A sort that the task itself asks for."},

    ROW(C01, "kernel fusion"), COMPUTE, STRUCTURAL, .evidence = READING,
        .definition = "Stages that the reference runs as separate passes over the data run in one kernel.",
        .pays = "Where intermediate results would go through memory, or where launches are a large part of a call.",
        .is_not = "One kernel because the reference has one pass."},
    ROW(C02, "algorithm substitution"), COMPUTE, STRUCTURAL, .evidence = READING,
        .definition = "Another algorithm than the reference's, with less work or a shorter chain of dependent steps.",
        .pays = "More than all else, where there is one.",
        .is_not = "The reference's loop, run in parallel."},
    ROW(C03, "precomputation"), COMPUTE, STRUCTURAL, .evidence = SOURCE,
        .definition = "A table, a factorisation or another intermediate result is computed once in a call and read "
                      "many "
                      "times after that.",
        .pays = "Where threads or steps would compute the same values again and again.",
        .is_not = "Copies of inputs, and setting memory to a constant."},
    ROW(C05, "loop unrolling"), COMPUTE, LOCAL, .evidence = SOURCE,
        .definition = "Loops of device code are unrolled by #pragma unroll or by hand.",
        .pays = "Where short loops of constant length hold arrays in registers or hide latency.",
        .is_not = "Unrolled loops of the host, and #pragma unroll 1."},
    ROW(C06, "compile-time specialisation"), COMPUTE, STRUCTURAL, .evidence = SOURCE,
        .definition = "Kernels are made for several sizes, types or flags by templates, so that their loops have "
                      "constant "
                      "bounds and their branches are gone.",
        .pays = "Where bounds known only at run time keep a loop from being unrolled or an array from registers.",
        .is_not = "A template that is used with one set of arguments."},
    ROW(C07, "cheaper arithmetic"), COMPUTE, LOCAL, .evidence = SOURCE,
        .definition = "Operations are replaced by cheaper ones: intrinsics such as __expf, rsqrtf and __fdividef, "
                      "explicit "
                      "fused multiply-add, a reciprocal computed once instead of divisions.",
        .pays = "Where special functions or divisions are the bound and the tolerance allows it.",
        .is_not = "A compiler flag alone."},
    ROW(C08, "mixed precision"), COMPUTE, STRUCTURAL, .evidence = SOURCE,
        .definition = "A part of the work runs in a narrower floating-point type than the interface's or the "
                      "reference's.",
        .pays = "Where double arithmetic or its bytes are the bound and the tolerance has room.",
        .is_not = "Narrower storage of values that are computed with in full."},
    ROW(C09, "tensor cores"), COMPUTE, STRUCTURAL, .evidence = SOURCE | BINARY,
        .definition = "Matrix units do the products: wmma, mma, wgmma, or a library routine that was told to use them.",
        .pays = "In dense products large enough to keep them fed.",
        .is_not = "Library products in plain single precision."},
    ROW(C10, "wavefront scheduling"), COMPUTE, STRUCTURAL, .evidence = SOURCE,
        .definition = "A recurrence runs front by front, the members of a front in parallel: anti-diagonals, levels, "
                      "colours.",
        .pays = "Where dependences leave parallel work only across them.",
        .is_not = "The frontier of a breadth-first search, and a loop over time steps."},
    ROW(C11, "scan and segmented primitives"), COMPUTE, STRUCTURAL, .evidence = SOURCE,
        .definition = "Compaction, offsets, recurrences or work by segments are expressed by prefix sums.",
        .pays = "Where each element's place depends on all before it.",
        .is_not = "A plain reduction."},
    ROW(C12, "early exit and pruning"), COMPUTE, STRUCTURAL, .evidence = SOURCE,
        .definition = "Work that cannot matter is left out: a loop ends on a test of its data, or the host stops when "
                      "nothing changes.",
        .pays = "Where most items are settled long before the worst case.",
        .is_not = "Tests of a thread's index against a bound."},
    ROW(C14, "library primitive"), COMPUTE, STRUCTURAL, .evidence = SOURCE | RUN,
        .definition = "A library does the heavy step: cuBLAS, cuSPARSE, cuSOLVER, cuFFT, cuRAND, CUB, Thrust, "
                      "cooperative "
                      "groups' reductions.",
        .pays = "Where the step is a standard one of a common size.",
        .is_not = "A library used for a trivial step, such as filling memory."},

    ROW(P01, "grid-stride loop"), PARALLEL, LOCAL, .evidence = SOURCE,
        .definition = "A thread or block walks the items with the size of the whole grid as its stride.",
        .pays = "Where a grid sized for the device amortises per-thread set-up over many items.",
        .is_not = "A loop inside a block, with the block's size as its stride."},
    ROW(P02, "warp and block reduction"), PARALLEL, LOCAL, .evidence = SOURCE,
        .definition = "Partial results are combined in steps by shuffles, votes or trees in shared memory.",
        .pays = "Wherever many threads make one value.",
        .is_not = "Atomics alone, and shuffles that only hand values to a neighbour."},
    ROW(P03, "thread coarsening"), PARALLEL, LOCAL, .evidence = SOURCE,
        .definition = "A thread handles a constant number of items, one after the other or together.",
        .pays = "Where items are so small that index work and latency outweigh them.",
        .is_not = "A grid-stride loop, and a register tile."},
    ROW(P05, "cooperative item mapping"), PARALLEL, STRUCTURAL, .evidence = SOURCE,
        .definition = "A warp or a block, not a thread, works on one item: a row, a string, a pair, a node.",
        .pays = "Where items are long and few, or where their data are contiguous.",
        .is_not = "One thread an item."},
    ROW(P06, "batching independent problems"), PARALLEL, STRUCTURAL, .evidence = READING,
        .definition = "Independent problems of a call run together in one launch.",
        .pays = "Where one problem does not fill the device.",
        .is_not = "A loop on the host with a launch a problem."},
    ROW(P07, "persistent or grid-synchronised kernel"), PARALLEL, STRUCTURAL, .evidence = SOURCE,
        .definition = "One launch spans many iterations, with barriers across the grid or a work loop that stays.",
        .pays = "Where iterations are so short that a launch each would be the bound.",
        .is_not = "A loop of iterations inside one block."},
    ROW(P08, "privatised accumulation"), PARALLEL, STRUCTURAL, .evidence = SOURCE,
        .definition = "Threads, warps or blocks accumulate privately and merge later, with few atomics.",
        .pays = "Where many threads add to few places.",
        .is_not = "One atomic on global memory an item."},
    ROW(P09, "occupancy shaping"), PARALLEL, LOCAL, .evidence = SOURCE,
        .definition = "Registers, block size or the share of shared memory are set for occupancy: __launch_bounds__, "
                      "__maxnreg__, the occupancy calculator, a carve-out.",
        .pays = "Where latency is the bound and registers or shared memory limit the resident warps.",
        .is_not = "A block of 256 threads because everybody takes 256."},

    ROW(B01, "work-list compaction"), BALANCE, STRUCTURAL, .evidence = SOURCE,
        .definition = "Only active items are processed: they are appended to a queue that the next round reads.",
        .pays = "Where few of many items are active in most rounds.",
        .is_not = "A sweep over all items that tests a flag, and a list that is only an output."},
    ROW(B02, "dynamic work distribution"), BALANCE, STRUCTURAL, .evidence = SOURCE,
        .definition = "Threads or blocks fetch their next piece of work at run time from a shared counter.",
        .pays = "Where pieces differ so much that a fixed share leaves the device idle at the end.",
        .is_not = "A grid-stride loop."},
    ROW(B03, "binning by size"), BALANCE, STRUCTURAL, .evidence = SOURCE,
        .definition = "Items are sorted or split by length or degree, and alike ones are handled together.",
        .pays = "Where lengths differ so much that a warp waits for its longest item.",
        .is_not = "A sort for locality."},
    ROW(B04, "balanced partition"), BALANCE, STRUCTURAL, .evidence = SOURCE,
        .definition = "Work is split by edges, nonzeros or cells rather than by rows: merge path, edge-parallel "
                      "loops, a "
                      "search in offsets for the owner of an element.",
        .pays = "Where rows are of very different length.",
        .is_not = "A row a thread, and a binary search for a value."},

    ROW(H01, "fast host transfers"), HOST, STRUCTURAL, .evidence = SOURCE | RUN,
        .definition = "Host memory is pinned, registered or mapped, or pageable memory is staged by several threads.",
        .pays = "Where transfers are a large part of a call; pinning itself costs time.",
        .is_not = "cudaMemcpyAsync on pageable memory."},
    ROW(H02, "overlapped transfers"), HOST, STRUCTURAL, .evidence = SOURCE | RUN,
        .definition = "Copies and kernels of different chunks go on at once on several streams.",
        .pays = "Where transfers and kernels take about as long and the work can be cut into chunks.",
        .is_not = "Streams that are made, with work that is serial."},
    ROW(H03, "transfer minimisation"), HOST, STRUCTURAL, .evidence = SOURCE,
        .definition = "Fewer bytes or fewer calls cross the bus: inputs packed into one copy, data made on the device, "
                      "only needed results returned.",
        .pays = "In short calls, where each copy costs some ten microseconds, and where inputs can be derived.",
        .is_not = "One copy because there is one array."},
    ROW(H04, "allocation economy"), HOST, STRUCTURAL, .evidence = SOURCE,
        .definition = "Device memory is one allocation that is carved up, or comes from a stream-ordered pool.",
        .pays = "In short calls: each allocation and each release takes as long as a small kernel.",
        .is_not = "Memory kept from one call to the next, which is forbidden."},
    ROW(H05, "device-resident iteration"), HOST, STRUCTURAL, .evidence = SOURCE | RUN,
        .definition = "Iterations need no answer from the device: nothing is copied back or waited for in each, or the "
                      "loop is on the device.",
        .pays = "Where an iteration is shorter than the wait for an answer.",
        .is_not = "A flag that is read back in each iteration."},
    ROW(H06, "launch amortisation"), HOST, STRUCTURAL, .evidence = SOURCE,
        .definition = "Launches are recorded into graphs or overlap by programmatic dependent launch.",
        .pays = "Where many short kernels follow each other in a fixed order.",
        .is_not = "Many launches on a stream."},
    ROW(H07, "host-device split"), HOST, STRUCTURAL, .evidence = SOURCE,
        .definition = "The host does useful work while the device runs.",
        .pays = "Where a serial part or the set-up of the next chunk fits beside a kernel.",
        .is_not = "Host work before the first launch or after the last wait."},
};

const char *ae_class_name(enum ae_strategy_class class)
{
    static const char *const names[] = {"memory access and reuse", "restructuring the computation",
                                        "parallel organisation", "load balance", "host coordination"};
    return names[class];
}

const char *ae_kind_name(enum ae_strategy_kind kind)
{
    return kind == AE_STRATEGY_LOCAL ? "local" : "structural";
}

const char *ae_evidence_name(enum ae_evidence evidence)
{
    switch (evidence) {
    case AE_EVIDENCE_SOURCE: return "source";
    case AE_EVIDENCE_BINARY: return "binary";
    case AE_EVIDENCE_RUN: return "run";
    case AE_EVIDENCE_READING: return "reading";
    }
    return "";
}

const char *ae_presence_name(enum ae_presence presence)
{
    static const char *const names[] = {"absent", "present", "unknown"};
    return names[presence];
}

int ae_strategy_by_id(const char *id, struct ae_error *err)
{
    char upper[8] = "";
    for (size_t i = 0; i + 1 < sizeof upper && id[i]; i++)
        upper[i] = (char)toupper((unsigned char)id[i]);
    size_t nearest = SIZE_MAX;
    int best = 0;
    for (int i = 0; i < AE_STRATEGY_COUNT; i++) {
        if (strlen(id) < sizeof upper && strcmp(upper, ae_strategies[i].id) == 0)
            return i;
        const size_t distance = ae_text_distance(upper, ae_strategies[i].id);
        if (distance < nearest) {
            nearest = distance;
            best = i;
        }
    }
    if (strlen(id) < sizeof upper && ae_text_near(upper, nearest))
        ae_error_set(err, AE_E_USAGE, "no strategy '%.40s'; did you mean '%s'? 'acceleval strategies list' shows all", id,
                     ae_strategies[best].id);
    else
        ae_error_set(err, AE_E_USAGE, "no strategy '%.40s'; 'acceleval strategies list' shows all", id);
    return -1;
}
