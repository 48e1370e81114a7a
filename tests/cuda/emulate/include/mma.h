/* Matrices in the registers of a warp: halves multiplied, added up in float, in tiles of 16 x 16, 32 x 8 and 8 x 32.
 * Which lane has which element is the hardware's secret, so here they are scattered: who counts on its own is found. */
#ifndef AE_EMULATE_MMA_H
#define AE_EMULATE_MMA_H

#include "cuda_fp16.h"

namespace nvcuda::wmma
{

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int M, int N, int K> struct ae_shape;
template <int M, int N, int K> struct ae_shape<matrix_a, M, N, K> {
    static constexpr int rows = M, columns = K;
};
template <int M, int N, int K> struct ae_shape<matrix_b, M, N, K> {
    static constexpr int rows = K, columns = N;
};
template <int M, int N, int K> struct ae_shape<accumulator, M, N, K> {
    static constexpr int rows = M, columns = N;
};

template <typename Use, int M, int N, int K, typename T, typename Layout = void> struct fragment {
    static_assert(K == 16 && ((M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32)), "no such tile");
    static_assert(std::is_same_v<T, half> || (std::is_same_v<Use, accumulator> && std::is_same_v<T, float>),
                  "halves, added up in half or float, are all that is emulated");
    using shape = ae_shape<Use, M, N, K>;
    static constexpr int num_elements = shape::rows * shape::columns / 32;
    T x[num_elements];
};

template <typename F, typename T> void fill_fragment(F &f, T value)
{
    for (auto &x : f.x)
        x = value;
}

/* All lanes come here with something of theirs; valid until emulate::release(). */
inline emulate::Exchanged *ae_meet(const void *mine, const char *file, int line)
{
    return emulate::exchange(~0u, emulate::EXCHANGE_SYNC, reinterpret_cast<uint64_t>(mine), file, line);
}

template <typename T> void ae_check_place(const T *p, unsigned stride, const char *file, int line)
{
    emulate::aligned(p, 32, file, line);
    if (stride * sizeof(T) % 16)
        emulate::fault(file, line, "rows of a matrix that are %u elements apart, no multiple of 16 bytes", stride);
}

/* The place of a lane's e-th element in the matrix, counted row by row, and whose the element at a place is. */
inline unsigned ae_at(unsigned lane, unsigned e) { return 32 * e + ((11 * lane + 7 * e) & 31); }
inline unsigned ae_lane_of(unsigned at) { return 3 * (at - 7 * (at / 32)) & 31; }

template <typename F> size_t ae_place(int e, unsigned stride, bool by_rows)
{
    const unsigned at = ae_at(emulate::lane(), static_cast<unsigned>(e));
    const unsigned row = at / F::shape::columns, column = at % F::shape::columns;
    return by_rows ? size_t(row) * stride + column : size_t(column) * stride + row;
}

template <typename F, typename T>
void ae_load(F &f, const T *p, unsigned stride, bool by_rows, const char *file, int line)
{
    emulate::release(ae_meet(nullptr, file, line));
    ae_check_place(p, stride, file, line);
    for (int e = 0; e < F::num_elements; e++)
        f.x[e] = p[ae_place<F>(e, stride, by_rows)];
}

template <typename Use, int M, int N, int K, typename T, typename Layout>
void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const T *p, unsigned stride, AE_HERE)
{
    static_assert(!std::is_same_v<Layout, void>, "an accumulator is loaded in an order that the call names");
    ae_load(f, p, stride, std::is_same_v<Layout, row_major>, file, line);
}
template <int M, int N, int K, typename T>
void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *p, unsigned stride, layout_t layout, AE_HERE)
{
    ae_load(f, p, stride, layout == mem_row_major, file, line);
}
template <int M, int N, int K, typename T>
void store_matrix_sync(T *p, const fragment<accumulator, M, N, K, T> &f, unsigned stride, layout_t layout, AE_HERE)
{
    emulate::release(ae_meet(nullptr, file, line));
    ae_check_place(p, stride, file, line);
    for (int e = 0; e < f.num_elements; e++)
        p[ae_place<fragment<accumulator, M, N, K, T>>(e, stride, layout == mem_row_major)] = f.x[e];
}

/* The sum of 16 exact products and c is cut off to a float, as the hardware does, not rounded. */
inline float ae_cut(double sum)
{
    const float rounded = static_cast<float>(sum);
    return std::isfinite(rounded) && std::fabs(static_cast<double>(rounded)) > std::fabs(sum)
               ? std::nextafter(rounded, 0.0f)
               : rounded;
}

template <int M, int N, int K, typename D, typename C, typename A, typename B>
void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, half, A> &a,
              const fragment<matrix_b, M, N, K, half, B> &b, const fragment<accumulator, M, N, K, C> &c, AE_HERE)
{
    struct Operands {
        const half *a, *b;
    } mine = {a.x, b.x};
    D sums[fragment<accumulator, M, N, K, D>::num_elements];
    emulate::Exchanged *all = ae_meet(&mine, file, line);
    for (int e = 0; e < d.num_elements; e++) {
        const unsigned at = ae_at(emulate::lane(), static_cast<unsigned>(e)), row = at / N, column = at % N;
        double sum = static_cast<double>(static_cast<float>(c.x[e]));
        for (unsigned k = 0; k < K; k++) {
            const unsigned left = row * K + k, right = k * N + column;
            const auto *by_left = reinterpret_cast<const Operands *>(all->value[ae_lane_of(left)]),
                       *by_right = reinterpret_cast<const Operands *>(all->value[ae_lane_of(right)]);
            sum += static_cast<double>(static_cast<float>(by_left->a[left / 32])) *
                   static_cast<double>(static_cast<float>(by_right->b[right / 32]));
        }
        sums[e] = D(ae_cut(sum));
    }
    emulate::release(all);
    emulate::release(ae_meet(nullptr, file, line)); /* nobody changes its own while others read it */
    for (int e = 0; e < d.num_elements; e++)
        d.x[e] = sums[e];
}

} // namespace nvcuda::wmma
#endif
