// Plain call of the library. Most of the time goes into the copies.
#include <cuda_runtime.h>
#include <cusparse.h>

extern "C" void solution_compute(int n, const int *row_ptr, const int *col_idx, const double *values, const double *x,
                                 double *y_out)
{
    const size_t nnz = row_ptr[n];
    char *pool;
    const size_t off_val = 0, off_x = off_val + nnz * sizeof(double), off_y = off_x + n * sizeof(double);
    const size_t off_row = off_y + n * sizeof(double), off_col = off_row + (n + 1) * sizeof(int);
    cudaMalloc((void **)&pool, off_col + nnz * sizeof(int));
    double *d_val = (double *)(pool + off_val), *d_x = (double *)(pool + off_x), *d_y = (double *)(pool + off_y);
    int *d_row = (int *)(pool + off_row), *d_col = (int *)(pool + off_col);
    cudaMemcpy(d_val, values, nnz * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x, n * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(d_row, row_ptr, (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_col, col_idx, nnz * sizeof(int), cudaMemcpyHostToDevice);

    cusparseHandle_t lib;
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t vx, vy;
    cusparseCreate(&lib);
    cusparseCreateCsr(&A, n, n, nnz, d_row, d_col, d_val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
    cusparseCreateDnVec(&vx, n, d_x, CUDA_R_64F);
    cusparseCreateDnVec(&vy, n, d_y, CUDA_R_64F);
    const double one = 1.0, zero = 0.0;
    size_t bytes = 0;
    void *buffer = nullptr;
    cusparseSpMV_bufferSize(lib, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, vx, &zero, vy, CUDA_R_64F,
                            CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
    cudaMalloc(&buffer, bytes);
    cusparseSpMV(lib, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, vx, &zero, vy, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT,
                 buffer);
    cudaMemcpy(y_out, d_y, n * sizeof(double), cudaMemcpyDeviceToHost);
    cusparseDestroySpMat(A);
    cusparseDestroyDnVec(vx);
    cusparseDestroyDnVec(vy);
    cusparseDestroy(lib);
    cudaFree(buffer);
    cudaFree(pool);
}
