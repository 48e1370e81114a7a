; Shared arrays and accesses to them; the rule looks for padding of the inner extent and for XOR in an index.

((declaration (type_qualifier) @a) @at
  (#eq? @a "__shared__")
  (#set! role shared))

((subscript_argument_list (binary_expression operator: "^") @a) @at
  (#set! context device)
  (#set! role xor))
