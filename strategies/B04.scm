; Loops that halve an interval, and elements with both of their ends looked up by one index; by the rule.

([(while_statement) (for_statement)] @at
  (#set! context device)
  (#set! role loop))

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "merge_path" "mergePath" "MergePathSearch" "merge_path_search" "merge_path_partition")
  (#set! confidence 95)
  (#set! says "{}: rows and elements are split evenly"))
