; Bits of words set and tested, population counts, and (by the rule) arrays narrower than the interface's.

((assignment_expression left: (_) @a operator: "|=" right: (_) @b) @at
  (#set! context device)
  (#set! role set))

((call_expression function: (identifier) @what) @at
  (#any-of? @what "atomicOr")
  (#set! context device)
  (#set! role set))

((binary_expression left: (_) @a operator: "&" right: (_) @b) @at
  (#set! context device)
  (#set! role test))

((call_expression function: (identifier) @what) @at
  (#any-of? @what "__popc" "__popcll" "__ffs" "__ffsll" "__clz" "__clzll" "popcount")
  (#set! context device)
  (#set! role count))

([(parameter_declaration) (declaration) (field_declaration)] @at
  (#set! role narrow))

((binary_expression left: (_) @a operator: "|" right: (_) @b) @at
  (#set! role pack))

((binary_expression left: (_) @a operator: ">>" right: (_) @b) @at
  (#set! context device)
  (#set! role unpack))

((binary_expression left: (_) @a operator: "^" right: (_) @b) @at
  (#set! context device)
  (#set! role toggle))
