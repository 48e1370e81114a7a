; Shared arrays; the rule follows what fills and reads them.

((declaration (type_qualifier) @a) @at
  (#eq? @a "__shared__")
  (#set! role shared))
