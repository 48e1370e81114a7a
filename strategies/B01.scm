; Elements stored at a place that an atomic or a scan gives; the rule asks whether the list is read again.

((assignment_expression left: (subscript_expression) @a right: (_) @b) @at
  (#set! context device)
  (#set! role append))

((call_expression function: (identifier) @what) @at
  (#any-of? @what "__stcg" "__stcs" "__stwt" "__stwb")
  (#set! context device)
  (#set! role append))
