# Evidence of a run: from a file, and what it says against the source.
# needs: acceleval strategies find "$TASKS/common/check.cuh"
cat >mine.cu <<'EOF'
#include <cuda_runtime.h>

__global__ void scale(float *a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] *= 2;
}

extern "C" void solution_compute(int n, const float *in, float *out)
{
    float *d;
    cudaStream_t s[2];
    cudaMalloc(&d, n * sizeof *d);
    for (int k = 0; k < 2; k++)
        cudaStreamCreate(&s[k]);
    for (int k = 0; k < 8; k++) {
        const int at = k * (n / 8);
        cudaMemcpyAsync(d + at, in + at, n / 8 * sizeof *d, cudaMemcpyHostToDevice, s[k % 2]);
        scale<<<n / 8 / 256 + 1, 256, 0, s[k % 2]>>>(d + at, n / 8);
        cudaMemcpyAsync(out + at, d + at, n / 8 * sizeof *d, cudaMemcpyDeviceToHost, s[k % 2]);
    }
    cudaDeviceSynchronize();
    cudaFree(d);
}
EOF
cat >profile.json <<'EOF'
[{"schema": 1, "task": "any", "size": "small", "target": "cuda", "verdict": "pass", "source": "elsewhere/mine.cu"},
 {"schema": 1, "task": "any", "size": "small", "target": "cuda", "verdict": "pass", "source": "elsewhere/mine.cu",
  "traced": true, "call_ns": 20000000, "dropped": 0, "overlap_ns": 0,
  "phases": [{"phase": "in", "ns": 9000000, "busy_ns": 9000000}, {"phase": "kernel", "ns": 1000000, "busy_ns": 1000000}],
  "kernels": [{"name": "scale", "library": false, "launches": 8, "ns": 1000000}],
  "copies_in": {"count": 8, "bytes": 4e7, "pageable_bytes": 4e7, "pinned_bytes": 0, "ns": 9000000},
  "copies_out": {"count": 8, "bytes": 4e7, "pageable_bytes": 4e7, "pinned_bytes": 0, "ns": 8000000},
  "bottlenecks": [{"id": "pageable-in", "text": "copies of pageable memory", "share": 0.45, "gain_ns": 5e6}]}]
EOF
acceleval strategies find mine.cu --profile profile.json
acceleval strategies find mine.cu --profile profile.json --json | sed -n '/"contradictions"/,/"strategies"/p'
sum=$(sha256sum mine.cu | cut -d' ' -f1)
sed "s/\"traced\"/\"submission\": \"$sum\", \"traced\"/" profile.json >known.json
cp mine.cu renamed.cu
acceleval strategies find renamed.cu --profile known.json | head -2
echo >>mine.cu
acceleval strategies find mine.cu --profile known.json | head -2
echo '{"schema": 2, "size": "small"}' >newer.json
acceleval strategies find mine.cu --profile newer.json || echo "exit $?"
acceleval strategies find mine.cu --profile mine.cu || echo "exit $?"
printf '__global__ void f(float *a)\n{\n    // a \0 byte\n#pragma unroll\n    for (int i = 0; i < 4; i++)\n        a[i] = 1;\n}\n' >nul.cu
acceleval strategies find nul.cu --source
acceleval strategies find nul.cu | head -1
acceleval strategies find nul.cu --format md
