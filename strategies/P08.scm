; Atomics; the rule asks what they add to and whether a shared or combined value is flushed.

((call_expression function: (identifier) @what) @at
  (#starts? @what "atomicAdd" "atomicMax" "atomicMin" "atomicOr" "atomicSub")
  (#set! context device)
  (#set! role atomic))
