; Votes and reductions by name; shuffles and trees in shared memory by the rule.

((call_expression function: (_) @what) @at
  (#any-of? @what "__reduce_add_sync" "__reduce_min_sync" "__reduce_max_sync" "__reduce_or_sync" "__reduce_and_sync"
      "__reduce_xor_sync")
  (#set! context device)
  (#set! confidence 97)
  (#set! says "{} combines the values of a warp"))

((call_expression function: (_) @what) @at
  (#any-of? @what "__ballot_sync" "__any_sync" "__all_sync" "__match_any_sync" "__syncthreads_or"
      "__syncthreads_and" "__syncthreads_count")
  (#set! context device)
  (#set! confidence 88)
  (#set! says "{}: a vote of the warp or block"))

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "BlockReduce" "WarpReduce")
  (#set! confidence 95)
  (#set! says "cub::{} combines the values of a block or warp"))

((call_expression function: (qualified_identifier) @what) @at
  (#any-of? @what "reduce")
  (#set! context device)
  (#set! role group))

((call_expression function: (_) @what) @at
  (#any-of? @what "__shfl_down_sync" "__shfl_xor_sync" "__shfl_down" "__shfl_xor" "shfl_down" "shfl_xor")
  (#set! context device)
  (#set! role shuffle))

((assignment_expression left: (_) @a right: (_) @b) @at
  (#set! context device)
  (#set! role combine))
