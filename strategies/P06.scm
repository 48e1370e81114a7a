; Launches; the rule looks for a number of problems among what sizes the grid.

((call_expression (kernel_call_syntax) @a) @at
  (#set! role launch))
