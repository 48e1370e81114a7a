# A search, its margin and its JSON.
# needs: acceleval strategies find "$TASKS/common/check.cuh"
cat >mine.cu <<'EOF'
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) scale(const float *__restrict__ a, float *b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        b[i] = rsqrtf(a[i]);
}
EOF
acceleval strategies find mine.cu
acceleval strategies find mine.cu --source
acceleval strategies find mine.cu --format json | grep -A 3 '"id": "P01",' | tail -4
acceleval strategies find missing.cu || echo "status $?"
cat >plain.cu <<'EOF'
__global__ void scale(const float *a, float *b, int n)
{
    if (blockIdx.x * blockDim.x + threadIdx.x == 0)
        for (int i = 0; i < n; i++)
            b[i] = a[i];
}
EOF
acceleval strategies diff plain.cu mine.cu | head -2
