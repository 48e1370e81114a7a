/* What runs translated kernels: threads as fibers that take turns, the memory of blocks, streams as queues, and the
 * ledger of what was allocated. Linked into every emulated object. */
#include "emulate.h"

#include <cerrno>
#include <cstdarg>
#include <deque>
#include <dirent.h>
#include <map>
#include <memory>
#include <mutex>
#include <signal.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <vector>

#if defined(AE_EMULATE_CHECKED) /* the solution is instrumented; what is here is not, for speed */
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   __asan_poison_memory_region(p, n)
#define UNPOISON(p, n) __asan_unpoison_memory_region(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#if !defined(__x86_64__)
#error "fibers are switched by hand on x86-64 only"
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulate
{

/* --- settings, from the environment of the driver ----------------------------------------------------------- */

enum class Order { FORWARD, REVERSE, RANDOM };
static struct {
    Order order = Order::FORWARD;
    bool lazy = false;       /* queued work runs only when somebody waits for it */
    unsigned char poison = 0xff;
    int processors = 4;
    int capability = 90;
} settings;

static uint64_t random_state = 1;
static uint64_t draw()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* --- blocks, threads, fibers --------------------------------------------------------------------------------- */

constexpr size_t STACK_BYTES = size_t(512) << 10; /* of address space; what is never touched costs nothing */
constexpr size_t SHARED_PER_SM = 228 << 10, SHARED_PER_BLOCK = 227 << 10, SHARED_PLAIN = 48 << 10;
constexpr size_t BLOCK_BYTES = SHARED_PER_BLOCK + (size_t(768) << 10); /* dynamic, then all variables of the file */
constexpr int THREADS_PER_SM = 2048, BLOCKS_PER_SM = 32;
constexpr size_t RESIDENT_MAX = 64; /* blocks of an ordinary launch that may run beside one that waits for them */

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
    f->stack = static_cast<char *>(mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
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

void *dynamic_shared()
{
    return block_memory;
}
size_t dynamic_shared_bytes()
{
    return grid.config.shared;
}

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
            b->memory = static_cast<char *>(mmap(nullptr, BLOCK_BYTES, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
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

unsigned lane()
{
    return current->linear % 32;
}

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

unsigned cluster_rank()
{
    return current->block->rank;
}
unsigned cluster_size()
{
    const dim3 &c = grid.config.cluster;
    return c.x * c.y * c.z;
}
uint3 cluster_dims()
{
    return grid.config.cluster;
}
bool is_cooperative()
{
    return grid.config.cooperative;
}

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
unsigned map_shared(unsigned address, unsigned rank)
{
    return (address & 0xffffff) | (rank + 1) << 24;
}
unsigned warp()
{
    return current->linear / 32;
}
unsigned processor()
{
    return current->block->number % static_cast<unsigned>(settings.processors);
}
unsigned processors()
{
    return static_cast<unsigned>(settings.processors);
}

struct Mbarrier {
    uint64_t phase : 1, count : 13, pending : 13, bytes : 37; /* bytes: plus 2^36, since they may come before they are expected */
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
void barrier_expect(void *p, unsigned bytes)
{
    as_barrier(p)->bytes += bytes;
}
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
bool barrier_try(void *p, uint64_t token)
{
    return barrier_try_parity(p, static_cast<unsigned>(token & 1));
}

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

Undisturbed::Undisturbed() : was(in_device)
{
    enter();
}
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
    if (!in_device || !grid.active || gettid() != timer_thread)
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

/* --- memory ------------------------------------------------------------------------------------------------------ */

static std::recursive_mutex lock;
#define AE_LOCK std::lock_guard<std::recursive_mutex> guard_(lock)

enum class Kind { DEVICE, HOST, MANAGED, REGISTERED, SYMBOL };
struct Allocation {
    size_t bytes;
    Kind kind;
    bool mapped;
};
static std::map<uintptr_t, Allocation> allocations;
static cudaError_t last_error;
static int live_streams, live_events, live_graphs;


/* Memory of the host is closed to kernels, unless it is registered, and that of the device to the host: by poison, which
 * only the instrumented code of the solution meets. Closing takes time, so that only the first and then some of the turns
 * are watched. */
static std::vector<std::pair<void *, size_t>> host_arrays;
static bool device_closed;
static unsigned turns_seen;

static void open_device()
{
    if (!device_closed)
        return;
    for (const auto &a : allocations)
        if (a.second.kind == Kind::DEVICE)
            UNPOISON(reinterpret_cast<void *>(a.first), a.second.bytes);
    device_closed = false;
}

static void close_device()
{
    if (device_closed || turns_seen > 64)
        return;
    for (const auto &a : allocations)
        if (a.second.kind == Kind::DEVICE)
            POISON(reinterpret_cast<void *>(a.first), a.second.bytes);
    device_closed = true;
}

/* The device is open to copies and the like for as long as one of these lives. */
struct Opened {
    Opened() { open_device(); }
    ~Opened() { close_device(); }
};

static void set_host(bool closed)
{
    for (const auto &array : host_arrays) {
        const uintptr_t begin = reinterpret_cast<uintptr_t>(array.first), end = begin + array.second;
        if (closed)
            POISON(array.first, array.second);
        else
            UNPOISON(array.first, array.second);
        for (const auto &a : allocations)
            if (closed && a.second.kind == Kind::REGISTERED && a.first < end && a.first + a.second.bytes > begin) {
                const uintptr_t from = std::max(begin, a.first), to = std::min<uintptr_t>(end, a.first + a.second.bytes);
                UNPOISON(reinterpret_cast<void *>(from), to - from);
            }
    }
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
    static const char *const waits[] = {"run", "are ready", "wait for lanes of their warp", "wait for their block",
                                        "wait at a named barrier", "wait for their cluster", "wait for the grid"};
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

static void run_blocks(const Config &config, const char *name, const char *file, int line,
                     const std::function<void()> &body)
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
    if (indices.empty() || blockDim.x != config.block.x || blockDim.y != config.block.y || blockDim.z != config.block.z) {
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
        if (grid.ready.empty() && grid.unstarted.empty() && (grid.admitted == count || grid.resident.size() >= RESIDENT_MAX))
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


static cudaError_t remember(cudaError_t status)
{
    if (status != cudaSuccess)
        last_error = status;
    return status;
}

/* Other threads of the host may use its memory while a kernel runs. */
static bool alone()
{
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return false;
    int threads = 0;
    while (const dirent *entry = readdir(folder))
        threads += entry->d_name[0] != '.';
    closedir(folder);
    return threads == 1;
}

static void run_grid(const Config &config, const char *name, const char *file, int line, const std::function<void()> &body)
{
    const bool watched = (++turns_seen <= 16 || (turns_seen & (turns_seen - 1)) == 0) && alone();
    Opened opened;
    if (watched)
        set_host(true);
    run_blocks(config, name, file, line, body);
    if (watched)
        set_host(false);
}

/* The allocation that holds [p, p + bytes), or whose part it is where bytes reach beyond it; NULL where there is none. */
static const Allocation *find(const void *p, size_t bytes, bool *whole)
{
    const uintptr_t at = reinterpret_cast<uintptr_t>(p);
    auto next = allocations.upper_bound(at);
    if (next == allocations.begin())
        return nullptr;
    --next;
    if (at >= next->first + next->second.bytes && !(bytes == 0 && at == next->first + next->second.bytes))
        return nullptr;
    *whole = at + bytes <= next->first + next->second.bytes;
    return &next->second;
}

static cudaError_t allocate_kind(void **pointer, size_t bytes, Kind kind)
{
    AE_LOCK;
    if (!pointer)
        return remember(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > size_t(64) << 30 || posix_memalign(pointer, 256, bytes) != 0)
        return remember(cudaErrorMemoryAllocation);
    memset(*pointer, settings.poison, bytes);
    if (kind == Kind::DEVICE && device_closed)
        POISON(*pointer, bytes);
    allocations[reinterpret_cast<uintptr_t>(*pointer)] = {bytes, kind, true};
    return cudaSuccess;
}

cudaError_t allocate(void **pointer, size_t bytes) { return allocate_kind(pointer, bytes, Kind::DEVICE); }
cudaError_t allocate_host(void **pointer, size_t bytes) { return allocate_kind(pointer, bytes, Kind::HOST); }
cudaError_t allocate_managed(void **pointer, size_t bytes) { return allocate_kind(pointer, bytes, Kind::MANAGED); }

cudaError_t symbol_address(void **pointer, const void *symbol, size_t bytes)
{
    AE_LOCK;
    *pointer = const_cast<void *>(symbol);
    allocations[reinterpret_cast<uintptr_t>(symbol)] = {bytes, Kind::SYMBOL, false};
    return cudaSuccess;
}

cudaError_t host_device_pointer(void **device, void *host)
{
    AE_LOCK;
    bool whole;
    const Allocation *a = find(host, 1, &whole);
    if (!a || a->kind == Kind::DEVICE)
        return remember(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

/* --- streams: queues of work ---------------------------------------------------------------------------------------- */

} // namespace emulate

struct CUevent_st {
    uint64_t issued = 0, done = 0;
    CUstream_st *stream = nullptr;
    ae_graph *capture = nullptr;
    bool destroyed = false;
};
struct ae_work {
    std::function<void()> run;
    CUevent_st *event = nullptr; /* waited for, up to `version` */
    uint64_t version = 0;
};
struct ae_graph {
    std::vector<ae_work> work;
};
struct CUstream_st {
    bool blocking = true, destroyed = false, running = false;
    std::deque<ae_work> queue;
    ae_graph *capture = nullptr;
};

namespace emulate
{

static CUstream_st legacy;
static std::vector<CUstream_st *> streams; /* made and not destroyed, or destroyed with work left */

static bool step(CUstream_st *stream);

static void drain(CUstream_st *stream)
{
    while (step(stream))
        ;
}

/* Runs the first piece of work of a stream. */
static bool step(CUstream_st *stream)
{
    if (stream->queue.empty() || stream->running)
        return false;
    stream->running = true;
    ae_work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (work.event)
        while (work.event->done < work.version)
            if (!step(work.event->stream))
                break;
    if (work.run)
        work.run();
    stream->running = false;
    return true;
}

static void drain_blocking()
{
    if (settings.order == Order::RANDOM)
        for (bool any = true; any;) {
            any = false;
            std::vector<CUstream_st *> some;
            for (CUstream_st *s : streams)
                if (s->blocking && !s->queue.empty() && !s->running)
                    some.push_back(s);
            if (!some.empty())
                any = step(some[draw() % some.size()]);
        }
    for (size_t i = streams.size(); i-- > 0;)
        if (streams[i]->blocking)
            drain(streams[i]);
}

static void drain_all()
{
    drain(&legacy);
    for (size_t i = streams.size(); i-- > 0;) /* the youngest first: an order nobody counts on */
        drain(streams[i]);
    for (size_t i = 0; i < streams.size();)
        if (streams[i]->destroyed && streams[i]->queue.empty()) {
            delete streams[i];
            streams.erase(streams.begin() + static_cast<long>(i));
        } else {
            i++;
        }
}

static bool is_stream(cudaStream_t stream)
{
    for (CUstream_st *s : streams)
        if (s == stream && !s->destroyed)
            return true;
    return false;
}

/* NULL where there is no such stream. */
static CUstream_st *resolve(cudaStream_t stream)
{
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return &legacy;
    return is_stream(stream) ? stream : nullptr;
}

static cudaError_t enqueue(cudaStream_t handle, ae_work work)
{
    CUstream_st *stream = resolve(handle);
    if (!stream)
        return remember(cudaErrorInvalidResourceHandle);
    if (stream->capture) {
        stream->capture->work.push_back(std::move(work));
        return cudaSuccess;
    }
    if (stream == &legacy)
        drain_blocking();
    else if (stream->blocking)
        drain(&legacy);
    stream->queue.push_back(std::move(work));
    if (!settings.lazy)
        drain(stream);
    return cudaSuccess;
}

static cudaError_t enqueue(cudaStream_t stream, std::function<void()> run)
{
    ae_work work;
    work.run = std::move(run);
    return enqueue(stream, std::move(work));
}

cudaError_t allocate_ordered(void **pointer, size_t bytes, cudaStream_t stream)
{
    AE_LOCK;
    if (!resolve(stream))
        return remember(cudaErrorInvalidResourceHandle);
    return allocate(pointer, bytes);
}

/* --- launches --------------------------------------------------------------------------------------------------------- */

static std::map<const void *, int> dynamic_limits;

int submit(const Config &config, const char *name, const char *file, int line, const void *kernel,
           std::function<void()> body)
{
    AE_LOCK;
    const dim3 &g = config.grid, &b = config.block, &c = config.cluster;
    const uint64_t threads = uint64_t(b.x) * b.y * b.z, blocks = uint64_t(g.x) * g.y * g.z;
    if (threads == 0 || threads > 1024 || b.z > 64 || blocks == 0 || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535 ||
        g.x % c.x || g.y % c.y || g.z % c.z) {
        fprintf(stderr, "emulate: %s:%d: %s: a grid of (%u,%u,%u) blocks of (%u,%u,%u) threads is none\n", file, line,
                name, g.x, g.y, g.z, b.x, b.y, b.z);
        return remember(cudaErrorInvalidConfiguration);
    }
    if (c.x * c.y * c.z > 16 || (c.x * c.y * c.z > 1 && settings.capability < 90)) {
        fprintf(stderr, "emulate: %s:%d: %s: clusters of (%u,%u,%u) blocks are none here\n", file, line, name, c.x, c.y,
                c.z);
        return remember(cudaErrorInvalidConfiguration);
    }
    if (threads > config.bound) {
        fprintf(stderr, "emulate: %s:%d: %s: blocks of %llu threads, where __launch_bounds__ says %u\n", file, line, name,
                static_cast<unsigned long long>(threads), config.bound);
        return remember(cudaErrorInvalidValue);
    }
    const auto limit = dynamic_limits.find(kernel);
    if (config.shared > SHARED_PER_BLOCK ||
        (config.shared > SHARED_PLAIN && kernel &&
         (limit == dynamic_limits.end() || config.shared > static_cast<size_t>(limit->second)))) {
        fprintf(stderr, "emulate: %s:%d: %s: %zu bytes of shared memory were not asked for by cudaFuncSetAttribute\n",
                file, line, name, config.shared);
        return remember(cudaErrorInvalidValue);
    }
    if (config.cooperative) {
        int each;
        occupancy(&each, kernel, static_cast<int>(threads), config.shared);
        if (blocks > static_cast<uint64_t>(each) * settings.processors) {
            fprintf(stderr, "emulate: %s:%d: %s: %llu blocks cannot all be resident\n", file, line, name,
                    static_cast<unsigned long long>(blocks));
            return remember(cudaErrorCooperativeLaunchTooLarge);
        }
    }
    return enqueue(config.stream, [=] { run_grid(config, name, file, line, body); });
}

static std::map<const void *, Binder> known;

void remember_kernel(const void *kernel, Binder binder)
{
    AE_LOCK;
    known[kernel] = binder;
}

cudaError_t launch_known(const void *kernel, const Config &config, void **args, const char *file, int line)
{
    AE_LOCK;
    const auto found = known.find(kernel);
    if (found == known.end()) {
        fprintf(stderr, "emulate: %s:%d: a launch of what is not known to be a kernel\n", file, line);
        return remember(cudaErrorInvalidDeviceFunction);
    }
    return static_cast<cudaError_t>(submit(config, "a kernel", file, line, kernel, found->second(kernel, args)));
}

int submit_host(cudaStream_t stream, std::function<void()> work)
{
    AE_LOCK;
    return enqueue(stream, [=] {
        Opened opened;
        work();
    });
}

Config extended(const cudaLaunchConfig_t *config)
{
    Config c(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute &a = config->attrs[i];
        if (a.id == cudaLaunchAttributeCooperative)
            c.cooperative = a.val.cooperative != 0;
        if (a.id == cudaLaunchAttributeClusterDimension)
            c.cluster = dim3(a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z);
    }
    return c;
}

cudaError_t function_limit(const void *kernel, cudaFuncAttribute attribute, int value)
{
    AE_LOCK;
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        const size_t most = settings.capability >= 90 ? SHARED_PER_BLOCK : size_t(163) << 10;
        if (value < 0 || static_cast<size_t>(value) > most)
            return remember(cudaErrorInvalidValue);
        dynamic_limits[kernel] = value;
    }
    return cudaSuccess;
}

cudaError_t function_attributes(cudaFuncAttributes *attributes, const void *kernel)
{
    AE_LOCK;
    *attributes = cudaFuncAttributes();
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = settings.capability;
    const auto limit = dynamic_limits.find(kernel);
    attributes->maxDynamicSharedSizeBytes = limit == dynamic_limits.end() ? SHARED_PLAIN : limit->second;
    return cudaSuccess;
}

/* As if registers never were the limit; few, so that a resident grid stays small. */
cudaError_t occupancy(int *blocks, const void *, int threads, size_t shared)
{
    if (threads <= 0 || threads > 1024 || shared > SHARED_PER_BLOCK) {
        *blocks = 0;
        return cudaSuccess;
    }
    int n = THREADS_PER_SM / ((threads + 31) / 32 * 32);
    if (shared > 0)
        n = std::min(n, static_cast<int>(SHARED_PER_SM / (shared + 1024)));
    *blocks = std::min(n, 2);
    return cudaSuccess;
}

/* --- copies ---------------------------------------------------------------------------------------------------------- */

static bool is_device(const void *p, size_t bytes, bool *whole)
{
    const Allocation *a = find(p, bytes, whole);
    return a && (a->kind != Kind::HOST && a->kind != Kind::REGISTERED);
}
static bool is_pinned(const void *p)
{
    bool whole;
    return find(p, 1, &whole) != nullptr;
}

struct Region {
    char *to;
    size_t to_pitch;
    const char *from;
    size_t from_pitch, width, height;
};

/* Whether both sides are what `kind` says. Says what is wrong: the error alone tells little. */
static bool check_side(const void *p, const Region &r, size_t pitch, bool device, const char *side)
{
    const size_t bytes = r.height ? pitch * (r.height - 1) + r.width : 0;
    bool whole = true;
    const Allocation *a = find(p, bytes, &whole);
    if (device && !(a && a->kind != Kind::REGISTERED && a->kind != Kind::HOST) &&
        !(a && a->mapped)) {
        fprintf(stderr, "emulate: a copy's %s is not device memory\n", side);
        return false;
    }
    if (!device && a && (a->kind == Kind::DEVICE || a->kind == Kind::SYMBOL)) {
        fprintf(stderr, "emulate: a copy's %s is device memory, where its kind says host\n", side);
        return false;
    }
    if (a && !whole && (device || a->kind == Kind::HOST)) {
        fprintf(stderr, "emulate: a copy of %zu bytes reaches beyond its %s\n", bytes, side);
        return false;
    }
    return true;
}

static void copy_now(const Region &r)
{
    Opened opened;
    if (r.width == r.to_pitch && r.width == r.from_pitch)
        memmove(r.to, r.from, r.width * r.height);
    else
        for (size_t i = 0; i < r.height; i++)
            memmove(r.to + i * r.to_pitch, r.from + i * r.from_pitch, r.width);
}

static cudaError_t copy(const Region &r, cudaMemcpyKind kind, cudaStream_t handle, bool async)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream)
        return remember(cudaErrorInvalidResourceHandle);
    if (r.width == 0 || r.height == 0)
        return cudaSuccess;
    if (r.width > r.to_pitch || r.width > r.from_pitch)
        return remember(cudaErrorInvalidValue);
    bool whole;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) {
        to_device = is_device(r.to, 1, &whole);
        from_device = is_device(r.from, 1, &whole);
    }
    if (!check_side(r.to, r, r.to_pitch, to_device, "destination") ||
        !check_side(r.from, r, r.from_pitch, from_device, "source"))
        return remember(cudaErrorInvalidValue);
    if (stream->capture)
        return enqueue(handle, [=] { copy_now(r); });
    const bool on_device = to_device && from_device;
    const bool pinned = (to_device || is_pinned(r.to)) && (from_device || is_pinned(r.from));
    if (on_device || (async && pinned))
        return enqueue(handle, [=] { copy_now(r); });
    if (stream == &legacy) {
        drain_blocking();
        drain(&legacy);
    } else {
        if (stream->blocking)
            drain(&legacy);
        drain(stream);
    }
    copy_now(r);
    return cudaSuccess;
}

} // namespace emulate

using namespace emulate;

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return copy({static_cast<char *>(to), bytes, static_cast<const char *>(from), bytes, bytes, 1}, kind, nullptr, false);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy({static_cast<char *>(to), bytes, static_cast<const char *>(from), bytes, bytes, 1}, kind, stream, true);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    return copy({static_cast<char *>(to), to_pitch, static_cast<const char *>(from), from_pitch, width, height}, kind,
                nullptr, false);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy({static_cast<char *>(to), to_pitch, static_cast<const char *>(from), from_pitch, width, height}, kind,
                stream, true);
}
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    AE_LOCK;
    if (width == 0 || height == 0)
        return cudaSuccess;
    const Region r = {static_cast<char *>(to), pitch, nullptr, pitch, width, height};
    if (!check_side(to, r, pitch, true, "destination"))
        return remember(cudaErrorInvalidValue);
    return enqueue(stream, [=] {
        Opened opened;
        for (size_t i = 0; i < height; i++)
            memset(r.to + i * pitch, value, width);
    });
}
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return cudaMemset2DAsync(to, bytes, value, bytes, 1, nullptr);
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
}
cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t)
{
    return cudaSuccess;
}

/* --- the rest of the API ---------------------------------------------------------------------------------------------- */

static cudaError_t take_back(void *pointer, Kind kind, Kind other)
{
    AE_LOCK;
    if (!pointer)
        return cudaSuccess;
    drain_all();
    const auto found = allocations.find(reinterpret_cast<uintptr_t>(pointer));
    if (found == allocations.end() || (found->second.kind != kind && found->second.kind != other))
        return remember(cudaErrorInvalidValue);
    Opened opened;
    allocations.erase(found);
    free(pointer);
    return cudaSuccess;
}
cudaError_t cudaFree(void *pointer)
{
    return take_back(pointer, Kind::DEVICE, Kind::MANAGED);
}
cudaError_t cudaFreeHost(void *pointer)
{
    return take_back(pointer, Kind::HOST, Kind::HOST);
}
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    AE_LOCK;
    if (!pointer)
        return cudaSuccess;
    bool whole;
    if (!is_device(pointer, 1, &whole))
        return remember(cudaErrorInvalidValue);
    return enqueue(stream, [=] {
        Opened opened;
        allocations.erase(reinterpret_cast<uintptr_t>(pointer));
        free(pointer);
    });
}
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned)
{
    AE_LOCK;
    if (!pointer || bytes == 0)
        return remember(cudaErrorInvalidValue);
    bool whole;
    if (find(pointer, 1, &whole) || find(static_cast<char *>(pointer) + bytes - 1, 1, &whole))
        return remember(cudaErrorHostMemoryAlreadyRegistered);
    allocations[reinterpret_cast<uintptr_t>(pointer)] = {bytes, Kind::REGISTERED, true};
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *pointer)
{
    AE_LOCK;
    drain_all();
    const auto found = allocations.find(reinterpret_cast<uintptr_t>(pointer));
    if (found == allocations.end() || found->second.kind != Kind::REGISTERED)
        return remember(cudaErrorHostMemoryNotRegistered);
    allocations.erase(found);
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    AE_LOCK;
    bool whole;
    const Allocation *a = find(pointer, 1, &whole);
    *attributes = cudaPointerAttributes();
    void *p = const_cast<void *>(pointer);
    if (a) {
        const bool host = a->kind == Kind::HOST || a->kind == Kind::REGISTERED;
        attributes->type = host ? cudaMemoryTypeHost : a->kind == Kind::MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
        attributes->devicePointer = p;
        attributes->hostPointer = host || a->kind == Kind::MANAGED ? p : nullptr;
    }
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    AE_LOCK;
    *stream = new CUstream_st();
    (*stream)->blocking = !(flags & cudaStreamNonBlocking);
    streams.push_back(*stream);
    live_streams++;
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    AE_LOCK;
    if (!stream || !is_stream(stream))
        return remember(cudaErrorInvalidResourceHandle);
    stream->destroyed = true; /* what it still has to do is done */
    live_streams--;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream)
        return remember(cudaErrorInvalidResourceHandle);
    if (stream->capture)
        return remember(cudaErrorStreamCaptureUnsupported);
    if (stream == &legacy)
        drain_blocking();
    drain(stream);
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream)
        return remember(cudaErrorInvalidResourceHandle);
    if (stream == &legacy)
        drain_blocking();
    if (stream->queue.empty())
        return cudaSuccess;
    step(stream);
    return remember(cudaErrorNotReady);
}
cudaError_t cudaDeviceSynchronize()
{
    AE_LOCK;
    drain_all();
    return cudaSuccess;
}
static std::vector<CUevent_st *> events;
static bool is_event(cudaEvent_t event)
{
    for (CUevent_st *e : events)
        if (e == event && !e->destroyed)
            return true;
    return false;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    AE_LOCK;
    *event = new CUevent_st();
    events.push_back(*event);
    live_events++;
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    AE_LOCK;
    if (!is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    event->destroyed = true;
    live_events--;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream || !is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    event->capture = stream->capture;
    if (stream->capture)
        return cudaSuccess; /* captured work runs in the order in which it was captured */
    const uint64_t version = ++event->issued;
    event->stream = stream;
    return enqueue(handle, [=] { event->done = version; });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream || !is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    if (event->capture) {
        stream->capture = event->capture;
        return cudaSuccess;
    }
    if (stream->capture)
        return cudaSuccess;
    ae_work work;
    work.event = event;
    work.version = event->issued;
    return enqueue(handle, std::move(work));
}
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    AE_LOCK;
    if (!is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    while (event->done < event->issued && step(event->stream))
        ;
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    AE_LOCK;
    if (!is_event(event))
        return remember(cudaErrorInvalidResourceHandle);
    if (event->done >= event->issued)
        return cudaSuccess;
    step(event->stream); /* time passes */
    return remember(cudaErrorNotReady);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t)
{
    *milliseconds = 1;
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    AE_LOCK;
    return enqueue(stream, [=] { function(data); });
}
cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream || stream == &legacy)
        return remember(stream ? cudaErrorStreamCaptureUnsupported : cudaErrorInvalidResourceHandle);
    stream->capture = new ae_graph();
    live_graphs++;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    AE_LOCK;
    CUstream_st *stream = resolve(handle);
    if (!stream || !stream->capture)
        return remember(cudaErrorStreamCaptureInvalidated);
    *graph = stream->capture;
    for (CUstream_st *s : streams)
        if (s->capture == *graph)
            s->capture = nullptr;
    for (CUevent_st *e : events)
        if (e->capture == *graph)
            e->capture = nullptr;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    AE_LOCK;
    *exec = new ae_graph(*graph);
    live_graphs++;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    AE_LOCK;
    for (const ae_work &work : exec->work) {
        const cudaError_t status = enqueue(stream, work);
        if (status != cudaSuccess)
            return status;
    }
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    AE_LOCK;
    delete graph;
    live_graphs--;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return cudaGraphDestroy(exec);
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
};
const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &e : error_texts)
        if (e.error == error)
            return e.text;
    return "unknown error";
}
const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &e : error_texts)
        if (e.error == error)
            return e.name;
    return "cudaErrorUnknown";
}
cudaError_t cudaGetLastError()
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}
cudaError_t cudaPeekAtLastError()
{
    return last_error;
}
cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : remember(cudaErrorInvalidDevice);
}
cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned)
{
    return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t)
{
    return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit)
{
    *value = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache)
{
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = size_t(64) << 30;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    const bool hopper = settings.capability >= 90;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = 1024;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = SHARED_PLAIN;
        break;
    case cudaDevAttrWarpSize:
        *value = 32;
        break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        *value = 65536;
        break;
    case cudaDevAttrClockRate:
        *value = 1000000;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = settings.processors;
        break;
    case cudaDevAttrL2CacheSize:
        *value = 50 << 20;
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = THREADS_PER_SM;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = settings.capability / 10;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = settings.capability % 10;
        break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = hopper ? SHARED_PER_SM : 164 << 10;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = hopper ? SHARED_PER_BLOCK : 163 << 10;
        break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
        *value = 1024;
        break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        *value = BLOCKS_PER_SM;
        break;
    case cudaDevAttrClusterLaunch:
        *value = hopper;
        break;
    case cudaDevAttrMaxPersistingL2CacheSize:
        *value = 30 << 20;
        break;
    case cudaDevAttrIntegrated:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
        *value = 0;
        break;
    default:
        *value = 1;
    }
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    *p = cudaDeviceProp();
    const bool hopper = settings.capability >= 90;
    snprintf(p->name, sizeof p->name, "emulated");
    p->totalGlobalMem = size_t(64) << 30;
    p->sharedMemPerBlock = SHARED_PLAIN;
    p->sharedMemPerBlockOptin = hopper ? SHARED_PER_BLOCK : size_t(163) << 10;
    p->sharedMemPerMultiprocessor = hopper ? SHARED_PER_SM : size_t(164) << 10;
    p->totalConstMem = 65536;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsPerMultiProcessor = THREADS_PER_SM;
    p->maxBlocksPerMultiProcessor = BLOCKS_PER_SM;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->major = settings.capability / 10;
    p->minor = settings.capability % 10;
    p->multiProcessorCount = settings.processors;
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->cooperativeLaunch = p->managedMemory = 1;
    p->concurrentManagedAccess = p->hostRegisterSupported = p->streamPrioritiesSupported = p->memoryPoolsSupported = 1;
    p->asyncEngineCount = 3;
    p->clusterLaunch = hopper;
    p->l2CacheSize = 50 << 20;
    p->persistingL2CacheMaxSize = 30 << 20;
    p->memoryBusWidth = 5120;
    return cudaSuccess;
}

/* --- what the driver calls --------------------------------------------------------------------------------------------- */

/* order: 0 forward, 1 reverse, else random by that seed. */
extern "C" __attribute__((visibility("default"))) void ae_emulate_begin(uint64_t order, int processors, int capability)
{
    settings.order = order == 0 ? Order::FORWARD : order == 1 ? Order::REVERSE : Order::RANDOM;
    settings.lazy = order != 0;
    settings.poison = order == 0 ? 0xff : order == 1 ? 0xa5 : 0x7f;
    settings.processors = processors;
    settings.capability = capability;
    random_state = order * 0x9e3779b97f4a7c15 + 1;
}

/* An array of the caller's: kernels may not touch it. */
extern "C" __attribute__((visibility("default"))) void ae_emulate_array(void *data, size_t bytes)
{
    if (bytes > 0)
        host_arrays.push_back({data, bytes});
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

/* What a call left behind, as text; true where it left nothing. */
extern "C" __attribute__((visibility("default"))) bool ae_emulate_end(char *text, size_t size)
{
    int memory = 0, pinned = 0, registered = 0;
    size_t bytes = 0, queued = legacy.queue.size();
    for (const auto &a : allocations) {
        if (a.second.kind == Kind::DEVICE || a.second.kind == Kind::MANAGED) {
            memory++;
            bytes += a.second.bytes;
        }
        pinned += a.second.kind == Kind::HOST;
        registered += a.second.kind == Kind::REGISTERED;
    }
    for (CUstream_st *s : streams)
        queued += s->queue.size();
    std::string said;
    char part[128];
    auto add = [&](size_t count, const char *what) {
        if (count == 0)
            return;
        snprintf(part, sizeof part, "%s%zu %s", said.empty() ? "" : ", ", count, what);
        said += part;
    };
    add(static_cast<size_t>(memory), "allocations of device memory");
    add(static_cast<size_t>(pinned), "pinned allocations");
    add(static_cast<size_t>(registered), "registered ranges");
    add(static_cast<size_t>(live_streams), "streams");
    add(static_cast<size_t>(live_events), "events");
    add(static_cast<size_t>(live_graphs), "graphs");
    add(queued, "pieces of work that nobody waited for");
    if (last_error != cudaSuccess && last_error != cudaErrorNotReady) {
        snprintf(part, sizeof part, "%san error that nobody asked for (%s)", said.empty() ? "" : ", ",
                 cudaGetErrorString(last_error));
        said += part;
    }
    snprintf(text, size, "%s", said.c_str());
    return said.empty();
}
