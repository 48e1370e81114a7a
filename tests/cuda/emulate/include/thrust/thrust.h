/* A few algorithms of Thrust. They wait, as those of the default policy do. */
#ifndef AE_EMULATE_THRUST_H
#define AE_EMULATE_THRUST_H

#include "../emulate.h"

#include <numeric>
#include <vector>

namespace thrust
{

template <typename T> class device_ptr
{
    T *p = nullptr;

  public:
    using value_type = std::remove_cv_t<T>;
    using reference = T &;
    using pointer = T *;
    using difference_type = ptrdiff_t;
    using iterator_category = std::random_access_iterator_tag;
    device_ptr() = default;
    explicit device_ptr(T *q) : p(q) {}
    T *get() const { return p; }
    device_ptr operator+(ptrdiff_t n) const { return device_ptr(p + n); }
    device_ptr operator-(ptrdiff_t n) const { return device_ptr(p - n); }
    ptrdiff_t operator-(device_ptr other) const { return p - other.p; }
};
template <typename T> device_ptr<T> device_pointer_cast(T *p) { return device_ptr<T>(p); }
template <typename T> T *raw_pointer_cast(device_ptr<T> p) { return p.get(); }
template <typename T> T *raw_pointer_cast(T *p) { return p; }

struct policy {
    cudaStream_t stream = nullptr;
    policy on(cudaStream_t s) const { return {s}; }
};
inline const policy device;
namespace cuda
{
inline const policy par, par_nosync;
}

template <typename T> struct less {
    bool operator()(const T &a, const T &b) const { return a < b; }
};
template <typename T> struct greater {
    bool operator()(const T &a, const T &b) const { return b < a; }
};
template <typename T> struct plus {
    T operator()(const T &a, const T &b) const { return a + b; }
};

namespace details
{
template <typename F> void run(const policy &p, F f)
{
    emulate::submit_host(p.stream, f);
    cudaStreamSynchronize(p.stream);
}
} // namespace details

#define AE_THRUST(name, parameters, arguments, templates, ...)                                                         \
    template <AE_UNPACK templates> void name(const policy &p_, AE_UNPACK parameters)                                   \
    {                                                                                                                  \
        details::run(p_, [=] { __VA_ARGS__; });                                                                        \
    }                                                                                                                  \
    template <AE_UNPACK templates> void name(AE_UNPACK parameters) { name(policy(), AE_UNPACK arguments); }
#define AE_UNPACK(...) __VA_ARGS__
AE_THRUST(sequence, (I first, I last), (first, last), (typename I),
          std::iota(raw_pointer_cast(first), raw_pointer_cast(last),
                    std::remove_reference_t<decltype(*raw_pointer_cast(first))>(0)))
AE_THRUST(fill, (I first, I last, T v), (first, last, v), (typename I, typename T),
          std::fill(raw_pointer_cast(first), raw_pointer_cast(last), v))
AE_THRUST(sort, (I first, I last), (first, last), (typename I),
          std::sort(raw_pointer_cast(first), raw_pointer_cast(last)))
AE_THRUST(sort, (I first, I last, C less), (first, last, less), (typename I, typename C),
          std::sort(raw_pointer_cast(first), raw_pointer_cast(last), less))
AE_THRUST(stable_sort, (I first, I last), (first, last), (typename I),
          std::stable_sort(raw_pointer_cast(first), raw_pointer_cast(last)))
AE_THRUST(inclusive_scan, (I first, I last, O out), (first, last, out), (typename I, typename O),
          std::partial_sum(raw_pointer_cast(first), raw_pointer_cast(last), raw_pointer_cast(out)))
AE_THRUST(
    exclusive_scan, (I first, I last, O out), (first, last, out), (typename I, typename O),
    auto sum = std::decay_t<decltype(*raw_pointer_cast(out))>();
    auto *to = raw_pointer_cast(out);
    for (auto *from = raw_pointer_cast(first); from != raw_pointer_cast(last); from++) {
        const auto v = *from;
        *to++ = sum;
        sum = sum + v;
    })

template <typename K, typename V> void stable_sort_by_key(const policy &p, K first, K last, V values)
{
    details::run(p, [=] {
        auto *keys = raw_pointer_cast(first);
        auto *with = raw_pointer_cast(values);
        const size_t n = static_cast<size_t>(raw_pointer_cast(last) - keys);
        std::vector<std::pair<std::decay_t<decltype(*keys)>, std::decay_t<decltype(*with)>>> both(n);
        for (size_t i = 0; i < n; i++)
            both[i] = {keys[i], with[i]};
        std::stable_sort(both.begin(), both.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
        for (size_t i = 0; i < n; i++)
            keys[i] = both[i].first, with[i] = both[i].second;
    });
}
template <typename K, typename V> void stable_sort_by_key(K first, K last, V values)
{
    stable_sort_by_key(policy(), first, last, values);
}
template <typename K, typename V> void sort_by_key(const policy &p, K first, K last, V values)
{
    stable_sort_by_key(p, first, last, values);
}
template <typename K, typename V> void sort_by_key(K first, K last, V values)
{
    stable_sort_by_key(policy(), first, last, values);
}

template <typename I, typename T, typename Op> T reduce(const policy &p, I first, I last, T start, Op op)
{
    T sum = start;
    details::run(p, [=, &sum] { sum = std::accumulate(raw_pointer_cast(first), raw_pointer_cast(last), start, op); });
    return sum;
}
template <typename I, typename T, typename Op> T reduce(I first, I last, T start, Op op)
{
    return reduce(policy(), first, last, start, op);
}
template <typename I, typename T> T reduce(I first, I last, T start)
{
    return reduce(policy(), first, last, start, plus<T>());
}

} // namespace thrust
#endif
