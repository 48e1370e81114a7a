; Loops of device code; the rule asks whether their step is the size of the grid.

([(for_statement) (while_statement)] @at
  (#set! context device)
  (#set! role loop))
