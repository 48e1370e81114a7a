; Launches and loops of the host; the rule asks who writes an array once and who reads it again and again.

((call_expression (kernel_call_syntax)) @at
  (#set! role launch))

((assignment_expression left: (subscript_expression) @a right: (_) @b) @at
  (#set! context host)
  (#set! role fill))
