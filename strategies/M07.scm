; __constant__ arrays; the rule looks for what fills them.

((declaration (type_qualifier) @a) @at
  (#eq? @a "__constant__")
  (#set! role constant))
