; Calls of libraries that do a step of the work.

((call_expression function: (_) @what) @at
  (#starts? @what "cublasS" "cublasD" "cublasC" "cublasZ" "cublasG" "cublasI" "cublasH" "cusparseS" "cusparseD"
      "cusolver" "cufftExec" "curandGenerate" "curand_")
  (#set! role library))

((call_expression function: (_) @what) @at
  (#any-of? @what "sort" "stable_sort" "sort_by_key" "stable_sort_by_key" "reduce" "transform_reduce"
      "inner_product" "exclusive_scan" "inclusive_scan" "reduce_by_key" "unique" "unique_by_key" "copy_if"
      "remove_if" "count_if" "max_element" "min_element" "minmax_element" "lower_bound" "upper_bound"
      "binary_search" "set_intersection" "merge" "partition" "stable_partition" "SortPairs" "SortKeys"
      "SortPairsDescending" "SortKeysDescending" "Sum" "Max" "Min" "Reduce" "ReduceByKey" "ExclusiveSum"
      "InclusiveSum" "ExclusiveScan" "InclusiveScan" "Flagged" "If" "HistogramEven" "ArgMax" "ArgMin" "Encode"
      "StableSortKeys" "Unique" "adjacent_difference")
  (#set! role algorithm))

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "BlockReduce" "WarpReduce" "BlockScan" "WarpScan" "BlockRadixSort" "BlockMergeSort" "DeviceReduce"
      "DeviceScan" "DeviceRadixSort" "DeviceSelect" "DeviceMergeSort" "DeviceSegmentedReduce" "DeviceHistogram"
      "DeviceRunLengthEncode" "DeviceSegmentedSort")
  (#set! confidence 92)
  (#set! says "cub::{} does this step"))
