; Values fetched by an atomic in a loop; the rule asks whether they end it.

((call_expression function: (identifier) @what) @at
  (#any-of? @what "atomicAdd" "atomicInc" "atomicSub")
  (#set! context device)
  (#set! role fetch))
