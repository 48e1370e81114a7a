/* The primitives of CUB that kernels here have a use for. Those of the device run on the host, in the stream's order;
 * they overwrite the storage that they are given, as the real ones may. */
#ifndef AE_EMULATE_CUB_H
#define AE_EMULATE_CUB_H

#include "../emulate.h"

#include <iterator>
#include <numeric>
#include <vector>

namespace cub
{

struct Sum {
    template <typename A, typename B> auto operator()(const A &a, const B &b) const { return a + b; }
};
struct Min {
    template <typename T> T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};
struct Max {
    template <typename T> T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
template <typename K, typename V> struct KeyValuePair {
    K key;
    V value;
};
template <typename T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector = 0;
    DoubleBuffer() : d_buffers{nullptr, nullptr} {}
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate} {}
    T *Current() { return d_buffers[selector]; }
    T *Alternate() { return d_buffers[selector ^ 1]; }
};
template <typename T, typename Offset = ptrdiff_t> struct CountingInputIterator {
    using value_type = T;
    T first;
    explicit CountingInputIterator(T v) : first(v) {}
    T operator[](Offset i) const { return static_cast<T>(first + static_cast<T>(i)); }
    T operator*() const { return first; }
    CountingInputIterator operator+(Offset i) const { return CountingInputIterator((*this)[i]); }
};
template <typename T, typename Op, typename Input, typename Offset = ptrdiff_t> struct TransformInputIterator {
    using value_type = T;
    Input input;
    Op op;
    TransformInputIterator(Input i, Op o) : input(i), op(o) {}
    T operator[](Offset i) const { return op(input[i]); }
    T operator*() const { return op(*input); }
    TransformInputIterator operator+(Offset i) const { return {input + i, op}; }
};

namespace details
{
template <typename T, typename = void> struct value_of {
    using type = typename T::value_type;
};
template <typename T> struct value_of<T *> {
    using type = std::remove_cv_t<T>;
};
template <typename It> using value_t = typename value_of<It>::type;
/* The first call asks for the size. */
template <typename Work> cudaError_t run(void *storage, size_t &bytes, size_t needed, cudaStream_t stream, Work work)
{
    if (!storage) {
        bytes = needed;
        return cudaSuccess;
    }
    if (bytes < needed)
        return cudaErrorInvalidValue;
    return static_cast<cudaError_t>(emulate::submit_host(stream, [=] {
        memset(storage, 0xa5, needed);
        work();
    }));
}
inline size_t storage(size_t count, size_t each) { return 512 + count * each; }
template <typename K> uint64_t ordered_bits(K key)
{
    if constexpr (std::is_floating_point_v<K>) {
        using U = std::conditional_t<sizeof(K) == 8, uint64_t, uint32_t>;
        key = key == 0 ? K(0) : key; /* the sign of zero does not count */
        U bits = emulate::from_bits<U>(emulate::bits_of(key));
        constexpr U top = U(1) << (8 * sizeof(U) - 1);
        return bits & top ? static_cast<U>(~bits) : bits | top;
    } else if constexpr (std::is_signed_v<K>) {
        using U = std::make_unsigned_t<K>;
        return static_cast<U>(static_cast<U>(key) ^ (U(1) << (8 * sizeof(U) - 1)));
    } else {
        return static_cast<uint64_t>(key);
    }
}
template <typename K> uint64_t digit(K key, int begin, int end)
{
    const uint64_t bits = ordered_bits(key) >> begin;
    return end - begin >= 64 ? bits : bits & ((uint64_t(1) << (end - begin)) - 1);
}
template <typename K> std::vector<size_t> sorted_places(const K *keys, size_t n, bool falling, int begin, int end)
{
    std::vector<size_t> place(n);
    std::iota(place.begin(), place.end(), size_t(0));
    std::stable_sort(place.begin(), place.end(), [=](size_t a, size_t b) {
        const uint64_t x = digit(keys[a], begin, end), y = digit(keys[b], begin, end);
        return falling ? y < x : x < y;
    });
    return place;
}
template <typename T> void permute(const T *from, T *to, const std::vector<size_t> &place)
{
    std::vector<T> copy(place.size());
    for (size_t i = 0; i < place.size(); i++)
        copy[i] = from[place[i]];
    std::copy(copy.begin(), copy.end(), to);
}
} // namespace details

struct DeviceRadixSort {
#define AE_SORT(suffix, falling)                                                                                       \
    template <typename K, typename N>                                                                                  \
    static cudaError_t SortKeys##suffix(void *storage, size_t &bytes, const K *from, K *to, N n, int begin = 0,        \
                                        int end = sizeof(K) * 8, cudaStream_t stream = nullptr)                        \
    {                                                                                                                  \
        return details::run(storage, bytes, details::storage(n, sizeof(K)), stream, [=] {                              \
            details::permute(from, to, details::sorted_places(from, static_cast<size_t>(n), falling, begin, end));     \
        });                                                                                                            \
    }                                                                                                                  \
    template <typename K, typename V, typename N>                                                                      \
    static cudaError_t SortPairs##suffix(void *storage, size_t &bytes, const K *from, K *to, const V *values, V *out,  \
                                         N n, int begin = 0, int end = sizeof(K) * 8, cudaStream_t stream = nullptr)   \
    {                                                                                                                  \
        return details::run(storage, bytes, details::storage(n, sizeof(K) + sizeof(V)), stream, [=] {                  \
            const auto place = details::sorted_places(from, static_cast<size_t>(n), falling, begin, end);              \
            details::permute(values, out, place);                                                                      \
            details::permute(from, to, place);                                                                         \
        });                                                                                                            \
    }                                                                                                                  \
    template <typename K, typename N>                                                                                  \
    static cudaError_t SortKeys##suffix(void *storage, size_t &bytes, DoubleBuffer<K> &keys, N n, int begin = 0,       \
                                        int end = sizeof(K) * 8, cudaStream_t stream = nullptr)                        \
    {                                                                                                                  \
        const cudaError_t status =                                                                                     \
            SortKeys##suffix(storage, bytes, keys.Current(), keys.Alternate(), n, begin, end, stream);                 \
        if (storage)                                                                                                   \
            keys.selector ^= 1;                                                                                        \
        return status;                                                                                                 \
    }                                                                                                                  \
    template <typename K, typename V, typename N>                                                                      \
    static cudaError_t SortPairs##suffix(void *storage, size_t &bytes, DoubleBuffer<K> &keys, DoubleBuffer<V> &values, \
                                         N n, int begin = 0, int end = sizeof(K) * 8, cudaStream_t stream = nullptr)   \
    {                                                                                                                  \
        const cudaError_t status = SortPairs##suffix(storage, bytes, keys.Current(), keys.Alternate(),                 \
                                                     values.Current(), values.Alternate(), n, begin, end, stream);     \
        if (storage)                                                                                                   \
            keys.selector ^= 1, values.selector ^= 1;                                                                  \
        return status;                                                                                                 \
    }
    AE_SORT(, false)
    AE_SORT(Descending, true)
#undef AE_SORT
};

struct DeviceScan {
    template <typename In, typename Out, typename Op, typename T, typename N>
    static cudaError_t ExclusiveScan(void *storage, size_t &bytes, In in, Out out, Op op, T start, N n,
                                     cudaStream_t stream = nullptr)
    {
        return details::run(storage, bytes, details::storage(n / 128, 16), stream, [=] {
            T sum = start;
            for (N i = 0; i < n; i++) {
                const T v = static_cast<T>(in[i]);
                out[i] = sum;
                sum = op(sum, v);
            }
        });
    }
    template <typename In, typename Out, typename Op, typename N>
    static cudaError_t InclusiveScan(void *storage, size_t &bytes, In in, Out out, Op op, N n,
                                     cudaStream_t stream = nullptr)
    {
        using T = details::value_t<In>;
        return details::run(storage, bytes, details::storage(n / 128, 16), stream, [=] {
            T sum = T();
            for (N i = 0; i < n; i++)
                out[i] = sum = i == 0 ? static_cast<T>(in[i]) : static_cast<T>(op(sum, static_cast<T>(in[i])));
        });
    }
    template <typename In, typename Out, typename N>
    static cudaError_t ExclusiveSum(void *storage, size_t &bytes, In in, Out out, N n, cudaStream_t stream = nullptr)
    {
        return ExclusiveScan(storage, bytes, in, out, Sum(), details::value_t<In>(), n, stream);
    }
    template <typename In, typename Out, typename N>
    static cudaError_t InclusiveSum(void *storage, size_t &bytes, In in, Out out, N n, cudaStream_t stream = nullptr)
    {
        return InclusiveScan(storage, bytes, in, out, Sum(), n, stream);
    }
};

struct DeviceReduce {
    template <typename In, typename Out, typename N, typename Op, typename T>
    static cudaError_t Reduce(void *storage, size_t &bytes, In in, Out out, N n, Op op, T start,
                              cudaStream_t stream = nullptr)
    {
        return details::run(storage, bytes, details::storage(n / 128, 16), stream, [=] {
            T sum = start;
            for (N i = 0; i < n; i++)
                sum = op(sum, static_cast<T>(in[i]));
            *out = sum;
        });
    }
    template <typename In, typename Out, typename N>
    static cudaError_t Sum(void *storage, size_t &bytes, In in, Out out, N n, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, cub::Sum(), details::value_t<In>(), stream);
    }
    template <typename In, typename Out, typename N>
    static cudaError_t Min(void *storage, size_t &bytes, In in, Out out, N n, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, cub::Min(), std::numeric_limits<details::value_t<In>>::max(), stream);
    }
    template <typename In, typename Out, typename N>
    static cudaError_t Max(void *storage, size_t &bytes, In in, Out out, N n, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, cub::Max(), std::numeric_limits<details::value_t<In>>::lowest(),
                      stream);
    }
};

struct DeviceSegmentedReduce {
    template <typename In, typename Out, typename B, typename E>
    static cudaError_t Sum(void *storage, size_t &bytes, In in, Out out, int segments, B begin, E end,
                           cudaStream_t stream = nullptr)
    {
        using T = details::value_t<In>;
        return details::run(storage, bytes, details::storage(0, 0), stream, [=] {
            for (int s = 0; s < segments; s++) {
                T sum = T();
                for (auto i = begin[s]; i < end[s]; i++)
                    sum = sum + in[i];
                out[s] = sum;
            }
        });
    }
};

struct DeviceSelect {
    template <typename In, typename Flags, typename Out, typename Count, typename N>
    static cudaError_t Flagged(void *storage, size_t &bytes, In in, Flags flags, Out out, Count count, N n,
                               cudaStream_t stream = nullptr)
    {
        return details::run(storage, bytes, details::storage(n / 128, 16), stream, [=] {
            std::remove_reference_t<decltype(*count)> kept = 0;
            for (N i = 0; i < n; i++)
                if (flags[i])
                    out[kept++] = in[i];
            *count = kept;
        });
    }
    template <typename In, typename Out, typename Count, typename N, typename Op>
    static cudaError_t If(void *storage, size_t &bytes, In in, Out out, Count count, N n, Op op,
                          cudaStream_t stream = nullptr)
    {
        return details::run(storage, bytes, details::storage(n / 128, 16), stream, [=] {
            std::remove_reference_t<decltype(*count)> kept = 0;
            for (N i = 0; i < n; i++)
                if (op(in[i]))
                    out[kept++] = in[i];
            *count = kept;
        });
    }
    template <typename In, typename Out, typename Count, typename N>
    static cudaError_t Unique(void *storage, size_t &bytes, In in, Out out, Count count, N n,
                              cudaStream_t stream = nullptr)
    {
        return details::run(storage, bytes, details::storage(n / 128, 16), stream, [=] {
            std::remove_reference_t<decltype(*count)> kept = 0;
            for (N i = 0; i < n; i++)
                if (i == 0 || !(in[i] == in[i - 1]))
                    out[kept++] = in[i];
            *count = kept;
        });
    }
};

struct DeviceRunLengthEncode {
    template <typename In, typename Out, typename Lengths, typename Count, typename N>
    static cudaError_t Encode(void *storage, size_t &bytes, In in, Out out, Lengths lengths, Count count, N n,
                              cudaStream_t stream = nullptr)
    {
        return details::run(storage, bytes, details::storage(n / 128, 16), stream, [=] {
            std::remove_reference_t<decltype(*count)> runs = 0;
            for (N i = 0; i < n; i++) {
                if (i == 0 || !(in[i] == in[i - 1])) {
                    out[runs] = in[i];
                    lengths[runs++] = 0;
                }
                lengths[runs - 1]++;
            }
            *count = runs;
        });
    }
};

/* --- of a block and a warp: every thread gives its part, and each works out its own result --- */

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

namespace details
{
inline unsigned thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
template <typename T, int Threads> struct Exchange {
    T v[Threads];
};
} // namespace details

template <typename T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce
{
  public:
    using TempStorage = details::Exchange<T, X * Y * Z>;
    explicit BlockReduce(TempStorage &s) : storage(s) {}
    template <typename Op> T Reduce(T v, Op op, int valid = X * Y * Z, AE_HERE)
    {
        storage.v[details::thread()] = v;
        __syncthreads(file, line);
        T sum = storage.v[0];
        if (details::thread() == 0) /* the others' results are not defined */
            for (int i = 1; i < valid; i++)
                sum = op(sum, storage.v[i]);
        return sum;
    }
    T Sum(T v, int valid = X * Y * Z, AE_HERE) { return Reduce(v, cub::Sum(), valid, file, line); }

  private:
    TempStorage &storage;
};

template <typename T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1> class BlockScan
{
  public:
    using TempStorage = details::Exchange<T, X * Y * Z>;
    explicit BlockScan(TempStorage &s) : storage(s) {}
    template <typename Op> void InclusiveScan(T v, T &out, Op op, T &total, AE_HERE)
    {
        storage.v[details::thread()] = v;
        __syncthreads(file, line);
        T sum = storage.v[0];
        for (unsigned i = 0; i < X * Y * Z; i++) {
            if (i > 0)
                sum = op(sum, storage.v[i]);
            if (i == details::thread())
                out = sum;
        }
        total = sum;
    }
    template <typename Op> void ExclusiveScan(T v, T &out, T start, Op op, T &total, AE_HERE)
    {
        storage.v[details::thread()] = v;
        __syncthreads(file, line);
        T sum = start;
        T all = storage.v[0];
        for (unsigned i = 0; i < X * Y * Z; i++) {
            if (i == details::thread())
                out = sum;
            sum = op(sum, storage.v[i]);
            if (i > 0)
                all = op(all, storage.v[i]);
        }
        total = all;
    }
    template <typename Op> void InclusiveScan(T v, T &out, Op op, AE_HERE)
    {
        T total;
        InclusiveScan(v, out, op, total, file, line);
    }
    template <typename Op> void ExclusiveScan(T v, T &out, T start, Op op, AE_HERE)
    {
        T total;
        ExclusiveScan(v, out, start, op, total, file, line);
    }
    void InclusiveSum(T v, T &out, AE_HERE) { InclusiveScan(v, out, cub::Sum(), file, line); }
    void InclusiveSum(T v, T &out, T &total, AE_HERE) { InclusiveScan(v, out, cub::Sum(), total, file, line); }
    void ExclusiveSum(T v, T &out, AE_HERE) { ExclusiveScan(v, out, T(), cub::Sum(), file, line); }
    void ExclusiveSum(T v, T &out, T &total, AE_HERE) { ExclusiveScan(v, out, T(), cub::Sum(), total, file, line); }
    template <int Items> void ExclusiveSum(T (&v)[Items], T (&out)[Items], T &total, AE_HERE)
    {
        T sum = T();
        for (int i = 0; i < Items; i++)
            sum = sum + v[i];
        T before;
        ExclusiveSum(sum, before, total, file, line);
        for (int i = 0; i < Items; i++) {
            const T mine = v[i];
            out[i] = before;
            before = before + mine;
        }
    }
    template <int Items> void ExclusiveSum(T (&v)[Items], T (&out)[Items], AE_HERE)
    {
        T total;
        ExclusiveSum(v, out, total, file, line);
    }

  private:
    TempStorage &storage;
};

template <typename K, int X, int Items, typename V = char> class BlockRadixSort
{
  public:
    struct TempStorage {
        K keys[X * Items];
        V values[X * Items];
    };
    explicit BlockRadixSort(TempStorage &s) : storage(s) {}
    void Sort(K (&keys)[Items], int begin = 0, int end = sizeof(K) * 8, AE_HERE)
    {
        sort(keys, nullptr, false, begin, end, file, line);
    }
    void SortDescending(K (&keys)[Items], int begin = 0, int end = sizeof(K) * 8, AE_HERE)
    {
        sort(keys, nullptr, true, begin, end, file, line);
    }
    void Sort(K (&keys)[Items], V (&values)[Items], int begin = 0, int end = sizeof(K) * 8, AE_HERE)
    {
        sort(keys, values, false, begin, end, file, line);
    }
    void SortDescending(K (&keys)[Items], V (&values)[Items], int begin = 0, int end = sizeof(K) * 8, AE_HERE)
    {
        sort(keys, values, true, begin, end, file, line);
    }

  private:
    TempStorage &storage;
    void sort(K *keys, V *values, bool falling, int begin, int end, const char *file, int line)
    {
        const unsigned me = details::thread();
        for (int i = 0; i < Items; i++) {
            storage.keys[me * Items + i] = keys[i];
            if (values)
                storage.values[me * Items + i] = values[i];
        }
        __syncthreads(file, line);
        if (me == 0) {
            const emulate::Undisturbed while_allocating;
            const auto place = details::sorted_places(storage.keys, size_t(X) * Items, falling, begin, end);
            details::permute(storage.keys, storage.keys, place);
            if (values)
                details::permute(storage.values, storage.values, place);
        }
        __syncthreads(file, line);
        for (int i = 0; i < Items; i++) {
            keys[i] = storage.keys[me * Items + i];
            if (values)
                values[i] = storage.values[me * Items + i];
        }
    }
};

template <typename T, int Lanes = 32> class WarpReduce
{
  public:
    struct TempStorage {
    };
    explicit WarpReduce(TempStorage &) {}
    template <typename Op> T Reduce(T v, Op op, AE_HERE)
    {
        const unsigned mask = Lanes == 32 ? ~0u : ((1u << (Lanes & 31)) - 1) << (emulate::lane() / Lanes * Lanes);
        T sum = __shfl_sync(mask, v, 0, Lanes, file, line);
        for (int i = 1; i < Lanes; i++)
            sum = op(sum, __shfl_sync(mask, v, i, Lanes, file, line));
        return sum;
    }
    T Sum(T v, AE_HERE) { return Reduce(v, cub::Sum(), file, line); }
};

template <typename T, int Lanes = 32> class WarpScan
{
  public:
    struct TempStorage {
    };
    explicit WarpScan(TempStorage &) {}
    template <typename Op> void InclusiveScan(T v, T &out, Op op, AE_HERE)
    {
        const unsigned mask = Lanes == 32 ? ~0u : ((1u << (Lanes & 31)) - 1) << (emulate::lane() / Lanes * Lanes);
        T sum = v;
        for (int i = 0; i < Lanes; i++) {
            const T other = __shfl_sync(mask, v, i, Lanes, file, line);
            sum = i == 0 ? other : op(sum, other);
            if (i == static_cast<int>(emulate::lane()) % Lanes)
                out = sum;
        }
    }
    void InclusiveSum(T v, T &out, AE_HERE) { InclusiveScan(v, out, cub::Sum(), file, line); }
    void ExclusiveSum(T v, T &out, AE_HERE)
    {
        InclusiveScan(v, out, cub::Sum(), file, line);
        out = out - v;
    }
};

} // namespace cub
#endif
