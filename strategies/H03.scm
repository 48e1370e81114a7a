; Copies on the host and to the device; the rule asks for several arrays that become one.

((call_expression function: (_) @what) @at
  (#any-of? @what "memcpy" "copy" "copy_n" "cudaMemcpy" "cudaMemcpyAsync")
  (#set! context host)
  (#set! role copy))
