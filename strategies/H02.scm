; Asynchronous copies in loops of the host; the rule asks for several streams and for launches beside them.

((call_expression function: (identifier) @what) @at
  (#any-of? @what "cudaMemcpyAsync" "cudaMemcpy2DAsync")
  (#set! context host)
  (#set! role copy))

((call_expression function: (identifier) @what) @at
  (#any-of? @what "cudaStreamCreate" "cudaStreamCreateWithFlags" "cudaStreamCreateWithPriority")
  (#set! role stream))
