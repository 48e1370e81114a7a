; Matrix units by name.

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "wmma" "wgmma" "mma_sync" "load_matrix_sync")
  (#set! confidence 97)
  (#set! says "{}: the product runs on matrix units"))

((gnu_asm_expression) @at
  (#has? @at "mma.sync" "wgmma" "tcgen05" "ldmatrix")
  (#set! confidence 97)
  (#set! says "the product runs on matrix units"))

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "CUBLAS_TENSOR_OP_MATH" "CUBLAS_TF32_TENSOR_OP_MATH" "CUBLAS_GEMM_DEFAULT_TENSOR_OP"
      "CUBLAS_COMPUTE_32F_FAST_TF32" "CUBLAS_COMPUTE_32F_FAST_16F" "CUBLAS_COMPUTE_32F_FAST_16BF"
      "CUBLAS_COMPUTE_16F")
  (#set! confidence 92)
  (#set! says "{} tells the library to use matrix units"))
