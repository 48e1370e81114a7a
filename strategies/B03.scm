; Sorts, and launches under tests of a length or degree; the rule goes by the names of what is compared.

((call_expression function: (_) @what) @at
  (#any-of? @what "sort" "stable_sort" "sort_by_key" "stable_sort_by_key" "SortPairs" "SortPairsDescending"
      "SortKeys" "partition" "stable_partition")
  (#set! role sort))

((subscript_expression argument: (_) @a) @at
  (#set! role bin))
