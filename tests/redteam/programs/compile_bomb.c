// verdict: compile_error
// Expands to more than any compiler holds.
#define A(x) x x x x x x x x x x x x x x x x
#define B(x) A(A(A(A(x))))
#define C(x) B(B(x))

static const char *const many[] = {C("0123456789abcdef0123456789abcdef",)};

const void *solution_compute(void)
{
    return many;
}
