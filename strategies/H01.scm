; Pinned, registered and mapped memory, by name.

((call_expression function: (_) @what) @at
  (#any-of? @what "cudaHostRegister" "cudaMallocHost" "cudaHostAlloc" "cudaHostGetDevicePointer" "cuMemHostRegister"
      "cuMemAllocHost")
  (#set! confidence 96)
  (#set! says "{}: the device reads and writes this host memory directly"))

((call_expression function: (qualified_identifier) @what) @at
  (#any-of? @what "upload" "download" "move" "pipeline" "by_ring" "by_register")
  (#set! role staged))
