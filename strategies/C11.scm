; Scans of the libraries, and (by the rule) those written by hand: shuffles up or shared reads at doubling distances,
; and places
; among the voters of a ballot.

((call_expression function: (_) @what) @at
  (#any-of? @what "exclusive_scan" "inclusive_scan" "exclusive_scan_by_key" "inclusive_scan_by_key"
      "transform_exclusive_scan" "transform_inclusive_scan" "ExclusiveSum" "InclusiveSum" "ExclusiveScan"
      "InclusiveScan" "ExclusiveSumByKey" "InclusiveSumByKey" "copy_if" "reduce_by_key" "unique_by_key" "Flagged"
      "ReduceByKey")
  (#set! confidence 95)
  (#set! says "{} is a scan or is made of one"))

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "DeviceScan" "BlockScan" "WarpScan" "DeviceSelect" "DeviceSegmentedReduce" "DeviceSegmentedSort"
      "DeviceRunLengthEncode" "DevicePartition" "DeviceSegmentedRadixSort")
  (#set! confidence 95)
  (#set! says "{}: prefix sums of a library"))

((call_expression function: (identifier) @what) @at
  (#any-of? @what "__shfl_up_sync")
  (#set! context device)
  (#set! role shuffle))

((call_expression function: (field_expression field: (field_identifier) @what)) @at
  (#any-of? @what "shfl_up")
  (#set! context device)
  (#set! role shuffle))

((call_expression function: (identifier) @what) @at
  (#any-of? @what "__popc" "__popcll")
  (#set! context device)
  (#set! role rank))

((assignment_expression left: (_) @a right: (_) @b) @at
  (#set! context device)
  (#set! role combine))

((init_declarator value: (_) @b) @at
  (#set! context device)
  (#set! role combine))
