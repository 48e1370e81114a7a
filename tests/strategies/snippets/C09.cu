//= present: wmma
__global__ void f(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::mma_sync(fc, fa, fa, fc);
}

//= present: mma in assembly
__global__ void f(float *c)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0}, {%1}, {%2}, {%3};" : "=f"(c[0]) : "r"(0), "r"(0), "f"(0.f));
}

//= present: a library told to
void f(cublasHandle_t h) { cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH); }

//= absent: a library in single precision
void f(cublasHandle_t h, float *a) { float one = 1; cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, 1, a, 1, &one, a, 1); }

//= absent: a name that holds mma
__global__ void gamma(float *comma, int summary) { comma[threadIdx.x] = summary; }

//= absent: a comment
// wmma::mma_sync would need half precision; cp mma.sync
__global__ void f(float *a) { a[0] = 1; }
