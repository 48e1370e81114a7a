; Loops of constant length in kernels; the rule asks whether their index makes items of the grid.

((for_statement) @at
  (#set! context device)
  (#set! role loop))
