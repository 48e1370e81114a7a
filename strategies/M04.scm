; Elements updated; the rule wants a local array of constant size, in constant loops inside another loop.

((assignment_expression left: (subscript_expression argument: [(identifier) (subscript_expression)]) @a right: (_) @b) @at
  (#set! context device)
  (#set! role update))

((assignment_expression left: (identifier) @a right: (_) @b) @at
  (#set! context device)
  (#set! role scalar))
