/* Groups of threads: grids, clusters, blocks, tiles of a warp. */
#ifndef AE_EMULATE_COOPERATIVE_GROUPS_H
#define AE_EMULATE_COOPERATIVE_GROUPS_H

#include "emulate.h"

namespace cooperative_groups
{

namespace details
{
inline unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned block_thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
inline unsigned long long grid_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
inline unsigned long long grid_block() { return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
inline uint3 cluster_block_index()
{
    const unsigned r = emulate::cluster_rank();
    const uint3 d = emulate::cluster_dims();
    return {r % d.x, r / d.x % d.y, r / d.x / d.y};
}
} // namespace details

class thread_block
{
  public:
    static void sync(AE_HERE) { emulate::block_barrier(emulate::VOTE_NONE, 0, file, line); }
    struct arrival_token {
    };
    static unsigned thread_rank() { return details::block_thread(); }
    static unsigned size() { return details::block_threads(); }
    static unsigned num_threads() { return details::block_threads(); }
    static uint3 group_index() { return blockIdx; }
    static uint3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

class grid_group
{
  public:
    static bool is_valid() { return emulate::is_cooperative(); }
    void sync(AE_HERE) const { emulate::grid_barrier(file, line); }
    static unsigned long long thread_rank()
    {
        return details::grid_block() * details::block_threads() + details::block_thread();
    }
    static unsigned long long size() { return details::grid_blocks() * details::block_threads(); }
    static unsigned long long num_threads() { return size(); }
    static unsigned long long num_blocks() { return details::grid_blocks(); }
    static unsigned long long block_rank() { return details::grid_block(); }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static uint3 block_index() { return blockIdx; }
};
inline grid_group this_grid() { return {}; }

class cluster_group
{
  public:
    struct arrival_token {
    };
    static void sync(AE_HERE)
    {
        emulate::cluster_arrive(file, line);
        emulate::cluster_wait(file, line);
    }
    static arrival_token barrier_arrive(AE_HERE) { return emulate::cluster_arrive(file, line), arrival_token(); }
    static void barrier_wait(AE_HERE) { emulate::cluster_wait(file, line); }
    static void barrier_wait(arrival_token &&, AE_HERE) { emulate::cluster_wait(file, line); }
    static unsigned block_rank() { return emulate::cluster_rank(); }
    static unsigned num_blocks() { return emulate::cluster_size(); }
    static dim3 dim_blocks() { return emulate::cluster_dims(); }
    static uint3 block_index() { return details::cluster_block_index(); }
    static unsigned thread_rank()
    {
        return emulate::cluster_rank() * details::block_threads() + details::block_thread();
    }
    static unsigned num_threads() { return emulate::cluster_size() * details::block_threads(); }
    static unsigned size() { return num_threads(); }
    template <typename T> static T *map_shared_rank(T *address, int rank, AE_HERE)
    {
        return static_cast<T *>(const_cast<void *>(static_cast<const void *>(
            emulate::cluster_map(const_cast<const void *>(static_cast<const volatile void *>(address)),
                                 static_cast<unsigned>(rank), file, line))));
    }
    template <typename T> static unsigned query_shared_rank(const T *address, AE_HERE)
    {
        for (unsigned r = 0; r < emulate::cluster_size(); r++)
            if (emulate::cluster_map(address, r, file, line) == address)
                return r;
        return 0;
    }
};
inline cluster_group this_cluster() { return {}; }

namespace details
{
/* Lanes of one warp by their mask. */
class lanes
{
  protected:
    unsigned mask_;
    constexpr explicit lanes(unsigned mask) : mask_(mask) {}
    unsigned lane_of(unsigned rank) const
    {
        unsigned m = mask_;
        while (rank-- > 0 && m)
            m &= m - 1;
        return m ? static_cast<unsigned>(__builtin_ctz(m)) : 0;
    }
    unsigned pack(unsigned bits) const
    {
        unsigned r = 0, n = 0;
        for (unsigned m = mask_; m; m &= m - 1, n++)
            r |= (bits >> __builtin_ctz(m) & 1) << n;
        return r;
    }

  public:
    unsigned mask() const { return mask_; }
    unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const
    {
        return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << emulate::lane()) - 1)));
    }
    void sync(AE_HERE) const { __syncwarp(mask_, file, line); }
    template <typename T> T shfl(T v, int source, AE_HERE) const
    {
        const unsigned from = lane_of(static_cast<unsigned>(source) % size());
        return emulate::shuffle(
            mask_, v, [=](unsigned) { return from; }, file, line);
    }
    template <typename T> T shfl_up(T v, unsigned delta, AE_HERE) const
    {
        const unsigned rank = thread_rank(), from = lane_of(rank >= delta ? rank - delta : rank);
        return emulate::shuffle(
            mask_, v, [=](unsigned) { return from; }, file, line);
    }
    template <typename T> T shfl_down(T v, unsigned delta, AE_HERE) const
    {
        const unsigned rank = thread_rank(), from = lane_of(rank + delta < size() ? rank + delta : rank);
        return emulate::shuffle(
            mask_, v, [=](unsigned) { return from; }, file, line);
    }
    template <typename T> T shfl_xor(T v, unsigned flip, AE_HERE) const
    {
        const unsigned rank = thread_rank() ^ flip, from = lane_of(rank < size() ? rank : thread_rank());
        return emulate::shuffle(
            mask_, v, [=](unsigned) { return from; }, file, line);
    }
    unsigned ballot(int p, AE_HERE) const { return pack(__ballot_sync(mask_, p, file, line)); }
    int any(int p, AE_HERE) const { return __any_sync(mask_, p, file, line); }
    int all(int p, AE_HERE) const { return __all_sync(mask_, p, file, line); }
    template <typename T> unsigned match_any(T v, AE_HERE) const
    {
        return pack(__match_any_sync(mask_, v, file, line));
    }
    template <typename T> unsigned match_all(T v, int &same, AE_HERE) const
    {
        return pack(__match_all_sync(mask_, v, &same, file, line));
    }
};
inline unsigned tile_mask(unsigned size)
{
    return size >= 32 ? ~0u : ((1u << size) - 1) << (emulate::lane() & ~(size - 1));
}
} // namespace details

class coalesced_group : public details::lanes
{
    unsigned meta_rank = 0, meta_size = 1;

  public:
    explicit coalesced_group(unsigned m, unsigned rank = 0, unsigned count = 1)
        : lanes(m), meta_rank(rank), meta_size(count)
    {
    }
    unsigned meta_group_rank() const { return meta_rank; }
    unsigned meta_group_size() const { return meta_size; }
};
/* Threads that run together: here each runs alone, as the machine is free to have it. */
inline coalesced_group coalesced_threads() { return coalesced_group(1u << emulate::lane()); }

template <unsigned Size, typename Parent = void> class thread_block_tile : public details::lanes
{
  public:
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "tiles of more than a warp are not emulated");
    thread_block_tile() : lanes(details::tile_mask(Size)) {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned meta_group_rank() const { return details::block_thread() / Size; }
    unsigned meta_group_size() const { return (details::block_threads() + Size - 1) / Size; }
};
template <unsigned Size, typename Parent> thread_block_tile<Size, Parent> tiled_partition(const Parent &) { return {}; }
inline coalesced_group tiled_partition(const thread_block &, unsigned size)
{
    return coalesced_group(details::tile_mask(size), details::block_thread() / size,
                           (details::block_threads() + size - 1) / size);
}
template <typename Group> coalesced_group binary_partition(const Group &g, bool p, AE_HERE)
{
    const unsigned yes = __ballot_sync(g.mask(), p, file, line);
    return coalesced_group(p ? yes : g.mask() & ~yes, p, 2);
}
template <typename Group, typename T> coalesced_group labeled_partition(const Group &g, T label, AE_HERE)
{
    return coalesced_group(__match_any_sync(g.mask(), label, file, line));
}

template <typename Group> void sync(const Group &g, AE_HERE) { g.sync(file, line); }
inline void sync(const thread_block &, AE_HERE) { thread_block::sync(file, line); }
inline void sync(const cluster_group &, AE_HERE) { cluster_group::sync(file, line); }

#define AE_OPERATOR(name, expression)                                                                                  \
    template <typename T = void> struct name {                                                                         \
        T operator()(T a, T b) const { return expression; }                                                            \
    };                                                                                                                 \
    template <> struct name<void> {                                                                                    \
        template <typename T> T operator()(T a, T b) const { return expression; }                                      \
    };
AE_OPERATOR(plus, a + b)
AE_OPERATOR(less, b < a ? b : a)
AE_OPERATOR(greater, a < b ? b : a)
AE_OPERATOR(bit_and, a &b)
AE_OPERATOR(bit_or, a | b)
AE_OPERATOR(bit_xor, a ^ b)
#undef AE_OPERATOR

template <typename Group, typename T, typename Op> T reduce(const Group &g, T v, Op op, AE_HERE)
{
    const unsigned rank = g.thread_rank();
    (void)rank;
    T sum = g.shfl(v, 0, file, line);
    for (unsigned i = 1; i < g.num_threads(); i++)
        sum = op(sum, g.shfl(v, static_cast<int>(i), file, line));
    return sum;
}
template <typename Group, typename T, typename Op> T inclusive_scan(const Group &g, T v, Op op, AE_HERE)
{
    const unsigned rank = g.thread_rank();
    T sum = v;
    for (unsigned i = 0; i < g.num_threads(); i++) {
        const T other = g.shfl(v, static_cast<int>(i), file, line);
        if (i <= rank)
            sum = i == 0 ? other : op(sum, other);
    }
    return sum;
}
template <typename Group, typename T> T inclusive_scan(const Group &g, T v, AE_HERE)
{
    return inclusive_scan(g, v, plus<T>(), file, line);
}
template <typename Group, typename T, typename Op> T exclusive_scan(const Group &g, T v, Op op, AE_HERE)
{
    const unsigned rank = g.thread_rank();
    T sum = T();
    for (unsigned i = 0; i < g.num_threads(); i++) {
        const T other = g.shfl(v, static_cast<int>(i), file, line);
        if (i < rank)
            sum = i == 0 ? other : op(sum, other);
    }
    return sum;
}
template <typename Group, typename T> T exclusive_scan(const Group &g, T v, AE_HERE)
{
    return exclusive_scan(g, v, plus<T>(), file, line);
}

/* By the first thread of the group. */
template <typename Group, typename T, typename S> void memcpy_async(const Group &g, T *to, const S *from, size_t bytes)
{
    if (g.thread_rank() == 0)
        emulate::async_copy(static_cast<void *>(to), static_cast<const void *>(from), bytes, bytes);
    emulate::async_commit();
}
template <typename Group> void wait(const Group &g, AE_HERE)
{
    emulate::async_wait(0);
    sync(g, file, line);
}
template <unsigned Groups, typename Group> void wait_prior(const Group &g, AE_HERE)
{
    emulate::async_wait(Groups);
    sync(g, file, line);
}
template <typename Group, typename F> void invoke_one(const Group &g, F f)
{
    if (g.thread_rank() == 0)
        f();
}

} // namespace cooperative_groups
#endif
