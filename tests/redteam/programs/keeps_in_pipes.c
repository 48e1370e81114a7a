// verdict: violation state_carried
// without kept: pass
// options: --timed 9
// Keeps its scratch in pipes, whose pages are no memory of the process.
#include <math.h>
#include <string.h>
#include <unistd.h>

static float price(int type, double k, double s, double q, double r, double t, double v)
{
    double d = v * sqrt(t), d1 = (log(s / k) + (r - q) * t) / d + 0.5 * d, w = type ? -1 : 1;
    return (float)(w * (s * exp(-q * t) * 0.5 * erfc(-w * d1 * 0.70710678118654752) -
                        k * exp(-r * t) * 0.5 * erfc(-w * (d1 - d) * 0.70710678118654752)));
}

#define PIPES 96
#define PIECE 65536

static int ends[PIPES][2];

/* Right only if what an earlier call of this load wrote can still be read. */
static int remembers(void)
{
    static char piece[PIECE];
    int right = 1;
    for (int i = 0; i < PIPES; i++) {
        if (!ends[i][0])
            right &= pipe(ends[i]) == 0;
        else
            right &= read(ends[i][0], piece, PIECE) == PIECE && piece[0] == (char)i;
        memset(piece, i, PIECE);
        right &= write(ends[i][1], piece, PIECE) == PIECE;
    }
    return right;
}

void solution_compute(int N, const int *types, const float *strikes, const float *spots, const float *qs,
                      const float *rs, const float *ts, const float *vols, float *prices)
{
    const int right = remembers();
    for (int i = 0; i < N; i++)
        prices[i] = right ? price(types[i], strikes[i], spots[i], qs[i], rs[i], ts[i], vols[i]) : 0;
}

__attribute__((destructor)) static void end(void)
{
    for (int i = 0; i < PIPES; i++) {
        close(ends[i][0]);
        close(ends[i][1]);
    }
}
