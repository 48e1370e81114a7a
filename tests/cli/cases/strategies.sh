# The catalogue, a search and its JSON, and what is no strategy.
cat >mine.cu <<'EOF'
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) scale(const float *__restrict__ a, float *b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        b[i] = rsqrtf(a[i]);
}
EOF
acceleval strategies | head -4
acceleval strategies list --json | grep -c '"id"'
acceleval strategies show b02 | head -10
acceleval strategies find mine.cu
acceleval strategies find mine.cu --source
acceleval strategies find mine.cu --format json | grep -A 3 '"P01": {'
acceleval strategies show M31 || echo "exit $?"
acceleval strategies paint mine.cu || echo "exit $?"
acceleval strategies find missing.cu
