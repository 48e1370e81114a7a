; Shared arrays and accesses to them; the rule looks for padding of the inner extent and for XOR in an index.

((declaration (type_qualifier) @a) @at
  (#eq? @a "__shared__")
  (#set! role shared))

((binary_expression operator: "^") @at
  (#set! context device)
  (#set! role xor))
