/* Exact float32 products and paged attention, at the speed of memory where few rows are computed.
   An output is one sum in an order of its own, so its bits are the same whatever else is computed in the call: a row
   alone or in a batch, a prompt whole or in chunks, blocks of any size. Hence no -ffast-math, which reorders sums. */
#include <stdint.h>
#if defined __AVX512F__ /* as many floats as one instruction takes */
enum { LANES = 16 };
#elif defined __AVX__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { PANEL = 3 * LANES }; /* outputs that are computed together */
const int lanes = LANES, panel_width = PANEL;
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t bits __attribute__((vector_size(4 * LANES)));
#define VEC(pointer) (*(vec *)(pointer))
#define INLINE static inline __attribute__((always_inline)) /* a constant count unrolls the loops into registers */
/* w[k] holds what input k weighs in the outputs of one panel: `count` rows of x share every load of it. */
INLINE void panel(int count, float *y, const float *x, const float *w, const float *bias, int64_t in, int64_t out) {
    vec sum[8][3];
    for (int r = 0; r < count; r++)
        for (int v = 0; v < 3; v++) sum[r][v] = VEC(bias + v * LANES);
    for (int64_t k = 0; k < in; k++)
        for (int r = 0; r < count; r++)
            for (int v = 0; v < 3; v++) sum[r][v] += x[r * in + k] * VEC(w + k * PANEL + v * LANES);
    for (int r = 0; r < count; r++)
        for (int v = 0; v < 3; v++) VEC(y + r * out + v * LANES) = sum[r][v];
}
/* y [rows, out] = x [rows, in] times w [out / PANEL, in, PANEL], plus bias [out] */
void linear(float *y, const float *x, const float *w, const float *bias, int64_t rows, int64_t in, int64_t out,
            int threads) {
#pragma omp parallel for num_threads(threads)
    for (int64_t o = 0; o < out; o += PANEL) {
        int64_t r = 0;
#define BY(N) for (; rows - r >= N; r += N) panel(N, y + r * out + o, x + r * in, w + o * in, bias + o, in, out);
        if (LANES != 8) BY(8) /* 24 vectors of sums fit the registers of AVX-512 and NEON; AVX has half as many */
        BY(4) BY(2) BY(1)
    }
}
INLINE vec exponential(vec x) { /* of x <= 0, as Cephes' expf: 2^n through the exponent's bits, times a polynomial */
    x = (vec)(((x < -87.0f) & (bits)((vec){0} - 87.0f)) | (~(x < -87.0f) & (bits)x));
    vec rounded = x * 1.44269504f + 12582912.0f, n = rounded - 12582912.0f; /* from 2^23 on, floats are whole numbers */
    vec r = x - n * 0.693359375f + n * 2.12194440e-4f;
    vec p = ((r * 1.9875691500e-4f + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f;
    p = ((p * r + 1.6666665459e-1f) * r + 5.0000001201e-1f) * r * r + r + 1.0f;
    return (vec)((bits)p + ((bits)rounded << 23));
}
typedef struct { /* row r sees lens[r] tokens, in blocks[tables[r]] and following; `group` query heads read a KV head */
    const float *key, *value;
    const int64_t *blocks, *tables, *lens;
    int64_t block_step, slot_step, head_step, block_size, heads, group, size;
    float scale;
} paged;
/* LANES tokens at a time; what is summed already shrinks as higher scores come. Heads do not wait for each other. */
static void attend_group(float *out, const float *q, const paged *c, int64_t row, int64_t head) {
    int64_t size = c->size, len = c->lens[row], at[2 * LANES];
    float top[c->group], total[c->group], score[c->group][LANES * LANES];
    vec keep[c->group];
    for (int g = 0; g < c->group; g++) top[g] = -3e38f, total[g] = 0;
    for (int64_t start = 0; start < len; start += LANES) {
        for (int i = 0; i < 2 * LANES; i++) { /* behind the context, its last token again: no other slot is read */
            uint32_t token = start + i < len ? start + i : len - 1, width = c->block_size;
            int64_t block = c->blocks[c->tables[row] + token / width];
            at[i] = block * c->block_step + token % width * c->slot_step + head * c->head_step;
            for (int64_t d = 0; i >= LANES && d < size; d += 16) /* the LANES after these, on their way meanwhile */
                __builtin_prefetch(c->key + at[i] + d, 0, 1), __builtin_prefetch(c->value + at[i] + d, 0, 1);
        }
        for (int g = 0; g < c->group; g++) {
            vec sum[LANES] = {0};
            for (int64_t d = 0; d < size; d += LANES)
                for (int i = 0; i < LANES; i++) sum[i] += VEC(q + g * size + d) * VEC(c->key + at[i] + d);
            for (int i = 0; i < LANES; i++) VEC(score[g] + i * LANES) = sum[i];
            for (int n = LANES * LANES / 2; n >= LANES; n /= 2) /* neighbours meet, until each key has one number */
#pragma GCC ivdep
                for (int i = 0; i < n; i++) score[g][i] = score[g][2 * i] + score[g][2 * i + 1];
        }
        for (int g = 0; g < c->group; g++) {
            vec old = (vec){0} + top[g];
            for (int i = 0; i < LANES; i++) top[g] = score[g][i] * c->scale > top[g] ? score[g][i] * c->scale : top[g];
            VEC(score[g]) = exponential(VEC(score[g]) * c->scale - top[g]);
            keep[g] = exponential(old - top[g]);
            total[g] *= keep[g][0];
            for (int i = 0; i < LANES; i++) total[g] += score[g][i] *= start + i < len;
        }
        for (int g = 0; g < c->group; g++)
            for (int64_t d = 0; d < size; d += LANES) {
                vec mixed = VEC(out + g * size + d) * keep[g];
                for (int i = 0; i < LANES; i++) mixed += score[g][i] * VEC(c->value + at[i] + d);
                VEC(out + g * size + d) = mixed;
            }
    }
    for (int64_t i = 0; len && i < c->group * size; i++) out[i] /= total[i / size];
}
void attend(float *out, const float *q, const paged *c, int64_t rows, int threads) { /* out is 0 */
    int64_t step = c->group * c->size;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (int64_t i = 0; i < rows * c->heads; i++)
        attend_group(out + i * step, q + i * step, c, i / c->heads, i % c->heads);
}
