; L2 windows, and sorts whose names speak of place (by the rule).

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "cudaAccessPolicyWindow" "accessPolicyWindow" "cudaStreamAttributeAccessPolicyWindow"
      "cudaLimitPersistingL2CacheSize" "cudaCtxResetPersistingL2Cache")
  (#set! confidence 95)
  (#set! says "{} keeps lines in the L2 cache"))

((call_expression function: (_) @what) @at
  (#any-of? @what "sort" "stable_sort" "sort_by_key" "stable_sort_by_key" "SortPairs" "SortKeys"
      "SortPairsDescending")
  (#set! role sort))

([(function_definition) (call_expression) (declaration)] @at
  (#set! role order))
