; Loops of device code; the rule asks whether a block's or warp's threads walk one item together.

((for_statement) @at
  (#set! context device)
  (#set! role loop))
