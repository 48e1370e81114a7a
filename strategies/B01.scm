; Elements stored at a place that an atomic or a scan gives; the rule asks whether the list is read again.

((assignment_expression left: (subscript_expression) @a right: (_) @b) @at
  (#set! context device)
  (#set! role append))
