; What shapes occupancy, by name.

((launch_bounds) @at
  (#set! confidence 97)
  (#set! says "__launch_bounds__ bounds the registers of a thread"))

((call_expression function: (_) @what) @at
  (#any-of? @what "cudaOccupancyMaxPotentialBlockSize" "cudaOccupancyMaxPotentialBlockSizeVariableSMem"
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor" "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"
      "cudaOccupancyAvailableDynamicSMemPerBlock")
  (#set! confidence 92)
  (#set! says "{} asks the occupancy calculator"))

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "cudaFuncAttributePreferredSharedMemoryCarveout" "cudaFuncCachePreferL1"
      "cudaFuncCachePreferShared" "cudaFuncSetCacheConfig" "cudaDeviceSetCacheConfig")
  (#set! confidence 93)
  (#set! says "{} divides shared memory and L1 cache"))
