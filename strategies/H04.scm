; Allocations; the rule counts those of the device and what is carved from them.

((call_expression function: (_) @what) @at
  (#any-of? @what "cudaMallocAsync" "cudaMallocFromPoolAsync" "cudaDeviceGetDefaultMemPool"
      "cudaMemPoolSetAttribute" "cudaMemPoolCreate" "cuMemAllocAsync")
  (#set! confidence 95)
  (#set! says "{}: memory comes from a pool"))

((call_expression function: (_) @what) @at
  (#any-of? @what "cudaMalloc" "cudaMallocPitch" "cudaMalloc3D" "cudaMallocManaged")
  (#set! role malloc))
