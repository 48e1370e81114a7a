/* Runs grids of translated kernels: threads as fibers that take turns, barriers, the memory of blocks. */
#include "runtime.h"

#include <cerrno>
#include <cstdarg>
#include <deque>
#include <map>
#include <memory>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <vector>

#if !defined(__x86_64__)
#error "fibers are switched by hand on x86-64 only"
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulate
{

Settings settings;
static uint64_t random_state = 1;
void seed(uint64_t state) { random_state = state; }
uint64_t draw()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* --- blocks, threads, fibers --------------------------------------------------------------------------------- */

constexpr size_t STACK_BYTES = size_t(512) << 10; /* of address space; what is never touched costs nothing */
constexpr size_t BLOCK_BYTES = SHARED_PER_BLOCK + (size_t(768) << 10); /* dynamic, then all variables of the file */
constexpr size_t RESIDENT_MAX = 128; /* blocks of an ordinary launch that may run beside one that waits for them */

struct Fiber;
struct Block;
struct Cluster;

enum class State : unsigned char { RUNNING, READY, LANES, BLOCK, NAMED, CLUSTER, GRID };
struct Copy {
    void *to;
    const void *from;
    size_t bytes, real;
};
struct Copies {
    std::vector<Copy> queued;
    std::vector<size_t> ends; /* of the groups that were committed */
};
struct Thread {
    unsigned linear;
    Block *block;
    Fiber *fiber;
    State state;
    Exchange exchange;
    bool reading; /* arrived at a cluster barrier, not waited yet */
    int named;
    unsigned mask;
    uint64_t value;
    Exchanged *exchanged;
    const char *file;
    int line;
    std::unique_ptr<Copies> copies;
};
struct Warp {
    unsigned gone;    /* lanes that have ended or never were */
    unsigned waiting; /* lanes in an exchange */
};
struct Named {
    unsigned arrived, needed;
    std::vector<Thread *> waiting;
};
struct Block {
    uint3 index;
    unsigned number; /* in the grid */
    unsigned count;  /* of threads */
    unsigned begun, ended, waiting;
    int votes, result;
    const char *file; /* of the barrier that the first came to */
    int line;
    Cluster *cluster;
    unsigned rank;
    char *memory;
    size_t dynamic; /* bytes of it that a launch asked for */
    size_t placed;  /* of the file's variables, those that may be touched */
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<unsigned> order;
    std::map<int, Named> named;
};
struct Cluster {
    std::vector<Block *> blocks;
    unsigned arrived = 0, ended = 0, total = 0;
    unsigned long generation = 0;
    std::vector<Thread *> waiting;
};
struct Fiber {
    void *stack_pointer;
    char *stack;
    Thread *thread;
};

/* A queue that keeps its memory. */
class Ring
{
    std::vector<Thread *> at = std::vector<Thread *>(1024);
    size_t first = 0, count = 0;

  public:
    bool empty() const { return count == 0; }
    size_t size() const { return count; }
    Thread *front() const { return at[first]; }
    void pop_front()
    {
        first = (first + 1) & (at.size() - 1);
        count--;
    }
    void push_back(Thread *t)
    {
        if (count == at.size()) {
            std::rotate(at.begin(), at.begin() + static_cast<long>(first), at.end());
            first = 0;
            at.resize(2 * count);
        }
        at[(first + count++) & (at.size() - 1)] = t;
    }
};

static struct {
    bool active;
    const char *name, *file;
    int line;
    const std::function<void()> *body;
    Config config{dim3(), dim3()};
    std::vector<unsigned> block_order; /* numbers of clusters */
    size_t admitted;                   /* clusters that were begun */
    std::vector<Block *> resident;
    std::deque<Block *> unstarted; /* resident blocks with threads that were not begun */
    std::vector<Block *> spare;
    std::vector<Cluster *> clusters;
    Ring ready;
    std::vector<Fiber *> idle;
    std::vector<Thread *> at_grid;
    unsigned threads_ended, threads_total_resident;
    unsigned long switches, progress, stalled;
} grid;

static std::vector<uint3> indices; /* threadIdx by the thread's number in its block */
static Thread *current;
static Fiber *current_fiber;
static void *main_stack_pointer;
/* Whether the kernel's own code runs: only that may be interrupted. */
static volatile sig_atomic_t in_device;
static inline void enter()
{
    in_device = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
}
static inline void leave()
{
    std::atomic_signal_fence(std::memory_order_seq_cst);
    in_device = 1;
}
char *block_memory;

extern "C" void ae_switch(void **save, void *load);
asm(R"(
.text
.globl ae_switch
.hidden ae_switch
.type ae_switch, @function
ae_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size ae_switch, .-ae_switch
)");

static void place_text(char *text, size_t size, const Thread *t)
{
    const uint3 i = indices[t->linear], b = t->block->index;
    snprintf(text, size, "thread (%u,%u,%u) of block (%u,%u,%u)", i.x, i.y, i.z, b.x, b.y, b.z);
}

[[noreturn]] void fault(const char *file, int line, const char *format, ...)
{
    enter();
    char text[1024], place[128] = "";
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (current)
        place_text(place, sizeof place, current);
    fflush(stdout);
    if (grid.active)
        fprintf(stderr, "emulate: kernel %s: %s:%d: %s%s%s\n", grid.name, file, line, place, *place ? ": " : "", text);
    else
        fprintf(stderr, "emulate: %s:%d: %s\n", file, line, text);
    fflush(stderr);
    _exit(9);
}

static void run(Thread *t)
{
    current = t;
    t->state = State::RUNNING;
    threadIdx = indices[t->linear];
    blockIdx = t->block->index;
    block_memory = t->block->memory;
}

static void thread_ended(Thread *t);
static void yield();
static void schedule();

/* A fiber runs one thread after the other; one that waits keeps its fiber. */
static Thread *next_thread();
[[noreturn]] static void fiber_main()
{
    for (;;) {
        if (Thread *t = next_thread()) {
            t->fiber = current_fiber;
            current_fiber->thread = t;
            run(t);
            leave();
            (*grid.body)();
            enter();
            thread_ended(t);
            current_fiber->thread = nullptr;
            current = nullptr;
            if (grid.ready.empty())
                continue;
        }
        grid.idle.push_back(current_fiber);
        current = nullptr;
        schedule();
    }
}

static Fiber *new_fiber()
{
    Fiber *f = new Fiber();
    f->stack = static_cast<char *>(
        mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (f->stack == MAP_FAILED) {
        perror("emulate: memory for the stack of a thread");
        _exit(9);
    }
    mprotect(f->stack, 4096, PROT_NONE);
    void **top = reinterpret_cast<void **>(f->stack + STACK_BYTES) - 1; /* as after a call */
    *top = nullptr;
    *--top = reinterpret_cast<void *>(fiber_main);
    top -= 6; /* the registers that ae_switch takes back */
    memset(top, 0, 6 * sizeof *top);
    f->stack_pointer = top;
    return f;
}

static void switch_to(Fiber *to)
{
    void **save = current_fiber ? &current_fiber->stack_pointer : &main_stack_pointer;
    if (to == current_fiber)
        return;
    current_fiber = to;
    grid.switches++;
    ae_switch(save, to ? to->stack_pointer : main_stack_pointer);
}

/* Gives the CPU to whoever can go on; returns when it is this fiber's turn again. */
static bool admit();
static void schedule()
{
    if (grid.unstarted.empty() && grid.ready.empty())
        admit();
    if (!grid.ready.empty()) {
        Thread *t = grid.ready.front();
        grid.ready.pop_front();
        Fiber *f = t->fiber;
        if (f == current_fiber) {
            run(t);
            return;
        }
        Thread *const me = current;
        run(t);
        switch_to(f);
        (void)me;
        return;
    }
    if (!grid.unstarted.empty()) {
        Fiber *f;
        if (grid.idle.empty()) {
            f = new_fiber();
        } else {
            f = grid.idle.back();
            grid.idle.pop_back();
        }
        switch_to(f);
        return;
    }
    switch_to(nullptr);
}

static void begin_block(Block *b, unsigned number)
{
    const dim3 &g = grid.config.grid, &s = grid.config.block;
    b->number = number;
    b->index = uint3{number % g.x, number / g.x % g.y, number / g.x / g.y};
    b->count = s.x * s.y * s.z;
    b->begun = b->ended = b->waiting = 0;
    b->votes = b->result = 0;
    b->file = nullptr;
    b->cluster = nullptr;
    b->rank = 0;
    b->named.clear();
    if (b->threads.size() < b->count)
        b->threads.resize(b->count);
    const unsigned warps = (b->count + 31) / 32;
    b->warps.assign(warps, Warp{0, 0});
    if (b->count % 32)
        b->warps[warps - 1].gone = ~0u << (b->count % 32);
    if (settings.order == Order::RANDOM || b->order.size() != b->count) {
        b->order.resize(b->count);
        for (unsigned i = 0; i < b->count; i++)
            b->order[i] = settings.order == Order::REVERSE ? b->count - 1 - i : i;
        if (settings.order == Order::RANDOM) {
            /* Whole warps in any order, lanes within a warp too; now and then all threads. */
            if (draw() % 4 == 0) {
                for (unsigned i = b->count; i > 1; i--)
                    std::swap(b->order[i - 1], b->order[draw() % i]);
            } else {
                std::vector<unsigned> warp_order(warps);
                for (unsigned i = 0; i < warps; i++)
                    warp_order[i] = i;
                for (unsigned i = warps; i > 1; i--)
                    std::swap(warp_order[i - 1], warp_order[draw() % i]);
                unsigned at = 0;
                for (unsigned w : warp_order) {
                    const unsigned first = at;
                    for (unsigned l = w * 32; l < w * 32 + 32 && l < b->count; l++)
                        b->order[at++] = l;
                    for (unsigned i = at - first; i > 1; i--)
                        std::swap(b->order[first + i - 1], b->order[first + draw() % i]);
                }
            }
        }
    }
}

static size_t variables_end = SHARED_PER_BLOCK;

static void clear_memory(Block *b)
{
    const size_t bytes = grid.config.shared;
    if (b->dynamic != bytes) {
        POISON(b->memory, SHARED_PER_BLOCK);
        UNPOISON(b->memory, bytes);
        b->dynamic = bytes;
    }
    memset(b->memory, settings.poison, bytes);
}

struct Placed {
    size_t offset, bytes;
};
static std::vector<Placed> variables;

void SharedVariable::place()
{
    const sig_atomic_t device = in_device;
    enter();
    const size_t align = alignment < 16 ? 16 : alignment;
    const size_t at = (variables_end + 16 + align - 1) / align * align;
    if (at + bytes > BLOCK_BYTES)
        fault("", 0, "the __shared__ variables of this file take too much memory (%s)", name);
    offset = static_cast<long>(at);
    variables_end = at + bytes;
    variables.push_back({at, bytes});
    for (Block *b : grid.resident) {
        UNPOISON(b->memory + at, bytes);
        memset(b->memory + at, settings.poison, bytes);
    }
    if (device)
        leave();
}

static void clear_variables(Block *b)
{
    for (; b->placed < variables.size(); b->placed++)
        UNPOISON(b->memory + variables[b->placed].offset, variables[b->placed].bytes);
    if (!variables.empty())
        for (const Placed &v : variables)
            memset(b->memory + v.offset, settings.poison, v.bytes);
}

void *dynamic_shared() { return block_memory; }
size_t dynamic_shared_bytes() { return grid.config.shared; }

/* Begins the next cluster (mostly: block) of the grid. */
static bool admit()
{
    if (grid.admitted == grid.block_order.size() || (grid.resident.size() >= RESIDENT_MAX && !grid.config.cooperative))
        return false;
    const dim3 &c = grid.config.cluster, &g = grid.config.grid;
    const unsigned id = grid.block_order[grid.admitted++], size = c.x * c.y * c.z;
    Cluster *cluster = nullptr;
    if (size > 1) {
        cluster = new Cluster();
        grid.clusters.push_back(cluster);
    }
    const unsigned across = g.x / c.x, down = g.y / c.y;
    const uint3 at = {id % across * c.x, id / across % down * c.y, id / across / down * c.z};
    for (unsigned r = 0; r < size; r++) {
        Block *b;
        if (grid.spare.empty()) {
            b = new Block();
            b->dynamic = ~size_t(0);
            b->placed = 0;
            b->memory = static_cast<char *>(
                mmap(nullptr, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
            if (b->memory == MAP_FAILED) {
                perror("emulate: shared memory of a block");
                _exit(9);
            }
            POISON(b->memory + SHARED_PER_BLOCK, BLOCK_BYTES - SHARED_PER_BLOCK);
        } else {
            b = grid.spare.back();
            grid.spare.pop_back();
        }
        const unsigned x = at.x + r % c.x, y = at.y + r / c.x % c.y, z = at.z + r / c.x / c.y;
        begin_block(b, (z * g.y + y) * g.x + x);
        clear_memory(b);
        clear_variables(b);
        b->cluster = cluster;
        b->rank = r;
        if (cluster) {
            cluster->blocks.push_back(b);
            cluster->total += b->count;
        }
        grid.resident.push_back(b);
        grid.unstarted.push_back(b);
        grid.threads_total_resident += b->count;
    }
    grid.progress++;
    return true;
}

static Thread *next_thread()
{
    if (grid.unstarted.empty())
        return nullptr;
    Block *b = grid.unstarted.front();
    const unsigned n = b->order[b->begun++];
    if (b->begun == b->count)
        grid.unstarted.pop_front();
    Thread *t = &b->threads[n];
    t->linear = n;
    t->block = b;
    t->reading = false;
    grid.progress++;
    return t;
}

static void make_ready(Thread *t)
{
    t->state = State::READY;
    grid.ready.push_back(t);
    grid.progress++;
}

static void wait_in(Thread *t, State state, const char *file, int line)
{
    t->state = state;
    t->file = file;
    t->line = line;
    schedule();
}

/* --- lanes ---------------------------------------------------------------------------------------------------- */

static std::vector<Exchanged *> spare_exchanges;

static bool complete_exchange(Block *b, unsigned warp, unsigned mask, Exchange what)
{
    Warp &w = b->warps[warp];
    const unsigned needed = mask & ~w.gone;
    if ((w.waiting & needed) != needed || needed == 0)
        return false;
    Thread *lanes = &b->threads[warp * 32];
    for (unsigned left = needed; left; left &= left - 1) {
        const Thread &t = lanes[__builtin_ctz(left)];
        if (t.mask != mask || t.exchange != what)
            return false;
    }
    Exchanged *e;
    if (spare_exchanges.empty()) {
        e = new Exchanged();
    } else {
        e = spare_exchanges.back();
        spare_exchanges.pop_back();
    }
    e->present = needed;
    e->readers = __builtin_popcount(needed);
    for (unsigned left = needed; left; left &= left - 1) {
        const int l = __builtin_ctz(left);
        e->value[l] = lanes[l].value;
        lanes[l].exchanged = e;
    }
    w.waiting &= ~needed;
    unsigned lanes_in_order[32], n = 0;
    for (unsigned left = needed; left; left &= left - 1)
        lanes_in_order[n++] = static_cast<unsigned>(__builtin_ctz(left));
    if (settings.order == Order::REVERSE)
        std::reverse(lanes_in_order, lanes_in_order + n);
    if (settings.order == Order::RANDOM)
        for (unsigned i = n; i > 1; i--)
            std::swap(lanes_in_order[i - 1], lanes_in_order[draw() % i]);
    for (unsigned i = 0; i < n; i++)
        make_ready(&lanes[lanes_in_order[i]]);
    return true;
}

Exchanged *exchange(unsigned mask, Exchange what, uint64_t value, const char *file, int line)
{
    enter();
    Thread *t = current;
    const unsigned l = t->linear % 32, warp = t->linear / 32;
    if (!(mask >> l & 1))
        fault(file, line, "lane %u is not in the mask %08x that it names", l, mask);
    t->mask = mask;
    t->exchange = what;
    t->value = value;
    t->block->warps[warp].waiting |= 1u << l;
    complete_exchange(t->block, warp, mask, what);
    if (t->state == State::READY) {
        t->file = file;
        t->line = line;
        schedule();
    } else {
        wait_in(t, State::LANES, file, line);
    }
    Exchanged *e = t->exchanged;
    leave();
    return e;
}

void release(Exchanged *e)
{
    if (--e->readers == 0) {
        const sig_atomic_t device = in_device;
        enter();
        spare_exchanges.push_back(e);
        if (device)
            leave();
    }
}

unsigned lane() { return current->linear % 32; }

/* --- blocks, clusters, grids ------------------------------------------------------------------------------------ */

static void complete_block(Block *b)
{
    if (b->waiting == 0 || b->waiting + b->ended != b->count)
        return;
    b->result = b->votes;
    b->votes = 0;
    b->waiting = 0;
    b->file = nullptr;
    for (unsigned n : b->order)
        if (b->threads[n].state == State::BLOCK && n < b->count)
            make_ready(&b->threads[n]);
}

int block_barrier(Vote vote, int predicate, const char *file, int line)
{
    enter();
    Thread *t = current;
    Block *b = t->block;
    if (b->waiting == 0) {
        b->file = file;
        b->line = line;
        b->votes = vote == VOTE_AND;
    } else if (b->line != line || strcmp(b->file, file) != 0) {
        fault(file, line, "waits here for its block, others wait at %s:%d: a divergent barrier", b->file, b->line);
    }
    if (vote == VOTE_COUNT)
        b->votes += predicate != 0;
    else if (vote == VOTE_AND)
        b->votes &= predicate != 0;
    else if (vote == VOTE_OR)
        b->votes |= predicate != 0;
    b->waiting++;
    t->state = State::BLOCK;
    t->file = file;
    t->line = line;
    complete_block(b);
    schedule();
    const int result = b->result;
    leave();
    return result;
}

static void complete_named(Block *b, int id)
{
    Named &n = b->named[id];
    if (n.arrived < n.needed || n.needed == 0)
        return;
    n.arrived = 0;
    n.needed = 0;
    std::vector<Thread *> waiting;
    waiting.swap(n.waiting);
    for (Thread *t : waiting)
        make_ready(t);
}

void named_barrier(int id, unsigned threads, bool wait, const char *file, int line)
{
    enter();
    Thread *t = current;
    Block *b = t->block;
    if (threads == 0)
        threads = b->count;
    Named &n = b->named[id];
    if (n.needed && n.needed != threads)
        fault(file, line, "barrier %d is for %u threads here, others came for %u", id, threads, n.needed);
    n.needed = threads;
    n.arrived++;
    if (wait) {
        t->state = State::NAMED;
        t->named = id;
        t->file = file;
        t->line = line;
        n.waiting.push_back(t);
        complete_named(b, id);
        schedule();
    } else {
        complete_named(b, id);
    }
    leave();
}

static void complete_grid()
{
    const unsigned total = grid.threads_total_resident;
    if (grid.at_grid.empty() || grid.at_grid.size() + grid.threads_ended < total)
        return;
    std::vector<Thread *> waiting;
    waiting.swap(grid.at_grid);
    if (settings.order == Order::REVERSE)
        std::reverse(waiting.begin(), waiting.end());
    for (Thread *t : waiting)
        make_ready(t);
}

void grid_barrier(const char *file, int line)
{
    enter();
    if (!grid.config.cooperative)
        fault(file, line, "waits for the grid in a launch that is not cooperative");
    grid.at_grid.push_back(current);
    current->state = State::GRID;
    current->file = file;
    current->line = line;
    complete_grid();
    schedule();
    leave();
}

static void complete_cluster(Cluster *c)
{
    if (c->arrived == 0 || c->arrived + c->ended < c->total)
        return;
    c->arrived = 0;
    c->generation++;
    std::vector<Thread *> waiting;
    waiting.swap(c->waiting);
    if (settings.order == Order::REVERSE)
        std::reverse(waiting.begin(), waiting.end());
    for (Thread *t : waiting) {
        t->reading = false;
        make_ready(t);
    }
}

void cluster_arrive(const char *file, int line)
{
    Thread *t = current;
    Cluster *c = t->block->cluster;
    if (!c)
        return;
    enter();
    if (t->reading)
        fault(file, line, "arrives twice at the cluster's barrier");
    t->reading = true;
    t->value = c->generation;
    c->arrived++;
    complete_cluster(c);
    leave();
}

void cluster_wait(const char *file, int line)
{
    Thread *t = current;
    Cluster *c = t->block->cluster;
    if (!c)
        return void(block_barrier(VOTE_NONE, 0, file, line));
    enter();
    if (t->value == c->generation) {
        c->waiting.push_back(t);
        wait_in(t, State::CLUSTER, file, line);
    }
    t->reading = false;
    leave();
}

unsigned cluster_rank() { return current->block->rank; }
unsigned cluster_size()
{
    const dim3 &c = grid.config.cluster;
    return c.x * c.y * c.z;
}
uint3 cluster_dims() { return grid.config.cluster; }
bool is_cooperative() { return grid.config.cooperative; }

void *cluster_map(const void *address, unsigned rank, const char *file, int line)
{
    Block *b = current->block;
    const char *p = static_cast<const char *>(address);
    /* An address of another block of the cluster is taken back to its place first. */
    const Block *owner = nullptr;
    if (p >= b->memory && p < b->memory + BLOCK_BYTES)
        owner = b;
    if (b->cluster)
        for (const Block *other : b->cluster->blocks)
            if (p >= other->memory && p < other->memory + BLOCK_BYTES)
                owner = other;
    if (!owner)
        fault(file, line, "maps an address that is not in shared memory");
    if (rank >= cluster_size())
        fault(file, line, "maps an address to block %u of a cluster of %u", rank, cluster_size());
    Block *to = b->cluster ? b->cluster->blocks[rank] : b;
    if (to->begun == to->count && to->ended == to->count)
        fault(file, line, "reaches into the shared memory of block %u of its cluster, which has ended", rank);
    return to->memory + (p - owner->memory);
}

static unsigned offset_of(const void *address, const Block **owner)
{
    const char *p = static_cast<const char *>(address);
    const Block *b = current->block;
    if (p >= b->memory && p < b->memory + BLOCK_BYTES) {
        *owner = b;
        return static_cast<unsigned>(p - b->memory);
    }
    if (b->cluster)
        for (const Block *other : b->cluster->blocks)
            if (p >= other->memory && p < other->memory + BLOCK_BYTES) {
                *owner = other;
                return static_cast<unsigned>(p - other->memory);
            }
    fault("inline PTX", 0, "takes %p for an address in shared memory", address);
}
unsigned to_shared(const void *address)
{
    const Block *owner;
    const unsigned offset = offset_of(address, &owner);
    return offset | (owner == current->block ? 0 : (owner->rank + 1) << 24);
}
void *from_shared(uint64_t address)
{
    const unsigned offset = address & 0xffffff, rank = static_cast<unsigned>(address >> 24);
    if (rank == 0 && offset < BLOCK_BYTES)
        return current->block->memory + offset;
    if (offset >= BLOCK_BYTES || rank > cluster_size())
        fault("inline PTX", 0, "%#llx is no address in shared memory", static_cast<unsigned long long>(address));
    return cluster_map(current->block->memory + offset, rank - 1, "inline PTX", 0);
}
unsigned map_shared(unsigned address, unsigned rank) { return (address & 0xffffff) | (rank + 1) << 24; }
unsigned warp() { return current->linear / 32; }
unsigned processor() { return current->block->number % static_cast<unsigned>(settings.processors); }
unsigned processors() { return static_cast<unsigned>(settings.processors); }

struct Mbarrier {
    uint64_t phase : 1, count : 13, pending : 13,
        bytes : 37; /* bytes: plus 2^36, since they may come before they are expected */
};
constexpr uint64_t NO_BYTES = uint64_t(1) << 36;
static Mbarrier *as_barrier(void *p)
{
    static_assert(sizeof(Mbarrier) == 8, "as wide as the machine's");
    aligned(p, size_t(8), "a barrier in shared memory", 0);
    return static_cast<Mbarrier *>(p);
}
static void turn(Mbarrier *b)
{
    if (b->pending == 0 && b->bytes == NO_BYTES) {
        b->phase ^= 1;
        b->pending = b->count;
        grid.progress++;
    }
}
void barrier_init(void *p, unsigned count)
{
    Mbarrier *b = as_barrier(p);
    b->phase = 0;
    b->count = b->pending = count;
    b->bytes = NO_BYTES;
}
uint64_t barrier_arrive(void *p, unsigned count, unsigned expected)
{
    Mbarrier *b = as_barrier(p);
    const uint64_t phase = b->phase;
    if (count > b->pending)
        fault("a barrier in shared memory", 0, "more threads arrive than it was made for (or it was not made)");
    b->bytes += expected;
    b->pending -= count;
    turn(b);
    return phase;
}
void barrier_expect(void *p, unsigned bytes) { as_barrier(p)->bytes += bytes; }
void barrier_complete(void *p, unsigned bytes)
{
    Mbarrier *b = as_barrier(p);
    b->bytes -= bytes;
    turn(b);
}
bool barrier_try_parity(void *p, unsigned parity)
{
    for (int turns = 0; as_barrier(p)->phase == (parity & 1) && turns < 2; turns++) {
        enter();
        yield();
        leave();
    }
    return as_barrier(p)->phase != (parity & 1);
}
bool barrier_try(void *p, uint64_t token) { return barrier_try_parity(p, static_cast<unsigned>(token & 1)); }

static void block_ended(Block *b)
{
    if (b->cluster) { /* its memory stays until the cluster has ended */
        Cluster *c = b->cluster;
        for (Block *other : c->blocks)
            if (other->ended != other->count)
                return;
        for (Block *other : c->blocks) {
            grid.resident.erase(std::find(grid.resident.begin(), grid.resident.end(), other));
            grid.spare.push_back(other);
        }
        c->blocks.clear();
        return;
    }
    if (grid.config.cooperative)
        return; /* counted by the grid's barrier */
    grid.resident.erase(std::find(grid.resident.begin(), grid.resident.end(), b));
    grid.spare.push_back(b);
}

static void copy_queued(Copies *c, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const Copy &copy = c->queued[i];
        memcpy(copy.to, copy.from, copy.real);
        memset(static_cast<char *>(copy.to) + copy.real, 0, copy.bytes - copy.real);
    }
    c->queued.erase(c->queued.begin(), c->queued.begin() + static_cast<long>(count));
    while (!c->ends.empty() && c->ends.front() <= count)
        c->ends.erase(c->ends.begin());
    for (size_t &end : c->ends)
        end -= count;
}

void async_copy(void *to, const void *from, size_t bytes, size_t real)
{
    enter();
    Thread *t = current;
    if (!t->copies)
        t->copies.reset(new Copies());
    t->copies->queued.push_back({to, from, bytes, real});
    if (!settings.lazy)
        copy_queued(t->copies.get(), t->copies->queued.size());
    leave();
}

void async_commit()
{
    enter();
    if (Copies *c = current->copies.get())
        c->ends.push_back(c->queued.size());
    leave();
}

void async_wait(size_t groups_left)
{
    enter();
    Copies *c = current->copies.get();
    if (c && c->ends.size() > groups_left)
        copy_queued(c, c->ends[c->ends.size() - groups_left - 1]);
    if (c && groups_left == 0) /* those not committed too, as wait_all has it */
        copy_queued(c, c->queued.size());
    leave();
}

Undisturbed::Undisturbed() : was(in_device) { enter(); }
Undisturbed::~Undisturbed()
{
    if (was)
        leave();
}

static void thread_ended(Thread *t)
{
    if (t->copies) {
        copy_queued(t->copies.get(), t->copies->queued.size());
        t->copies.reset();
    }
    Block *b = t->block;
    const unsigned warp = t->linear / 32;
    Warp &w = b->warps[warp];
    w.gone |= 1u << (t->linear % 32);
    b->ended++;
    grid.threads_ended++;
    grid.progress++;
    if (w.waiting) /* the others may have waited for this one only */
        for (unsigned left = w.waiting; left; left &= left - 1) {
            const Thread &other = b->threads[warp * 32 + static_cast<unsigned>(__builtin_ctz(left))];
            if (w.waiting >> (other.linear % 32) & 1)
                complete_exchange(b, warp, other.mask, other.exchange);
        }
    if (b->waiting)
        complete_block(b);
    if (b->cluster) {
        b->cluster->ended++;
        complete_cluster(b->cluster);
    }
    if (!grid.at_grid.empty())
        complete_grid();
    if (b->ended == b->count)
        block_ended(b);
}

/* --- loops that wait ------------------------------------------------------------------------------------------- */

static void yield()
{
    if (grid.progress == 0) {
        /* Everybody waits in loops: others may be needed. */
        if (++grid.stalled > grid.ready.size() + 4) {
            admit();
            grid.stalled = 0;
        }
    } else {
        grid.progress = 0;
        grid.stalled = 0;
    }
    if (grid.ready.empty() && grid.unstarted.empty())
        return;
    Thread *t = current;
    t->state = State::READY;
    grid.ready.push_back(t);
    if (!grid.unstarted.empty()) {
        Fiber *f;
        if (grid.idle.empty()) {
            f = new_fiber();
        } else {
            f = grid.idle.back();
            grid.idle.pop_back();
        }
        switch_to(f);
    } else {
        schedule();
    }
}

void pause()
{
    if (!in_device)
        return;
    static unsigned turn;
    if (grid.resident.size() <= 1 && ++turn % 64)
        return;
    enter();
    yield();
    leave();
}

void atomic_pause()
{
    if (!in_device)
        return;
    static unsigned turn;
    if (++turn % (grid.resident.size() > 1 ? 4 : 1024))
        return;
    enter();
    yield();
    leave();
}

static unsigned long seen_switches;
static timer_t timer;
static pid_t timer_thread;
static void on_tick(int)
{
    if (!in_device || !grid.active || !current || gettid() != timer_thread) /* no current one: between two threads */
        return;
    if (seen_switches != grid.switches) {
        seen_switches = grid.switches;
        return;
    }
    const int saved = errno;
    enter();
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 3);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    yield();
    seen_switches = grid.switches;
    leave();
    errno = saved;
}

/* Ticks, so that a thread that waits in a loop without telling gives way to those that it waits for. */
static void start_timer()
{
    if (timer_thread == gettid())
        return;
    if (timer_thread)
        timer_delete(timer);
    struct sigaction action = {};
    action.sa_handler = on_tick;
    action.sa_flags = SA_RESTART | SA_NODEFER;
    sigaction(SIGRTMIN + 3, &action, nullptr);
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN + 3;
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return;
    timer_thread = gettid();
    struct itimerspec every = {{0, 500000}, {0, 500000}};
    timer_settime(timer, 0, &every, nullptr);
}

/* --- one grid from begin to end -------------------------------------------------------------------------------- */

[[noreturn]] static void report_deadlock()
{
    fflush(stdout);
    fprintf(stderr, "emulate: kernel %s (launched at %s:%d) can go no further:\n", grid.name, grid.file, grid.line);
    struct Group {
        State state;
        const char *file;
        int line;
        unsigned count;
        const Thread *first;
    };
    std::vector<Group> groups;
    unsigned ended = 0;
    for (const Block *b : grid.resident) {
        ended += b->ended;
        for (unsigned n = 0; n < b->count; n++) {
            const Thread &t = b->threads[n];
            if (b->warps[n / 32].gone >> (n % 32) & 1)
                continue;
            bool found = false;
            for (Group &g : groups)
                if (g.state == t.state && g.line == t.line) {
                    g.count++;
                    found = true;
                    break;
                }
            if (!found)
                groups.push_back({t.state, t.file, t.line, 1, &t});
        }
    }
    static const char *const waits[] = {"run",
                                        "are ready",
                                        "wait for lanes of their warp",
                                        "wait for their block",
                                        "wait at a named barrier",
                                        "wait for their cluster",
                                        "wait for the grid"};
    for (const Group &g : groups) {
        char place[128];
        place_text(place, sizeof place, g.first);
        fprintf(stderr, "    %u threads %s at %s:%d", g.count, waits[static_cast<int>(g.state)], g.file, g.line);
        if (g.state == State::LANES)
            fprintf(stderr, " (mask %08x)", g.first->mask);
        fprintf(stderr, ", such as %s\n", place);
    }
    fprintf(stderr, "    %u threads of these blocks have ended: a divergent barrier\n", ended);
    fflush(stderr);
    _exit(9);
}

void run_blocks(const Config &config, const char *name, const char *file, int line, const std::function<void()> &body)
{
    grid.active = true;
    grid.name = name;
    grid.file = file;
    grid.line = line;
    grid.body = &body;
    grid.config = config;
    grid.threads_ended = grid.threads_total_resident = 0;
    grid.admitted = 0;
    grid.progress = grid.stalled = 0;
    if (indices.empty() || blockDim.x != config.block.x || blockDim.y != config.block.y ||
        blockDim.z != config.block.z) {
        const dim3 &b = config.block;
        indices.resize(b.x * b.y * b.z);
        for (unsigned n = 0; n < indices.size(); n++)
            indices[n] = uint3{n % b.x, n / b.x % b.y, n / b.x / b.y};
    }
    blockDim = config.block;
    gridDim = config.grid;
    const dim3 &g = config.grid, &c = config.cluster;
    const unsigned count = g.x / c.x * (g.y / c.y) * (g.z / c.z);
    grid.block_order.resize(count);
    for (unsigned i = 0; i < count; i++)
        grid.block_order[i] = settings.order == Order::REVERSE ? count - 1 - i : i;
    if (settings.order == Order::RANDOM)
        for (unsigned i = count; i > 1; i--)
            std::swap(grid.block_order[i - 1], grid.block_order[draw() % i]);
    if (config.cooperative)
        while (admit())
            ;
    start_timer();
    for (;;) {
        if (grid.ready.empty() && grid.unstarted.empty() && !admit())
            break;
        schedule();
        current_fiber = nullptr;
        if (grid.ready.empty() && grid.unstarted.empty() &&
            (grid.admitted == count || grid.resident.size() >= RESIDENT_MAX))
            break;
    }
    current = nullptr;
    for (const Block *b : grid.resident)
        if (b->ended != b->count)
            report_deadlock();
    for (Block *b : grid.resident)
        grid.spare.push_back(b);
    grid.resident.clear();
    for (Cluster *cluster : grid.clusters)
        delete cluster;
    grid.clusters.clear();
    grid.active = false;
}

/* For the report of a call that takes too long. */
extern "C" __attribute__((visibility("default"))) void ae_emulate_where(char *text, size_t size)
{
    char place[128] = "";
    if (grid.active && current)
        place_text(place, sizeof place, current);
    snprintf(text, size, grid.active ? "in kernel %s (launched at %s:%d), %s" : "outside kernels", grid.name, grid.file,
             grid.line, place);
}

} // namespace emulate
