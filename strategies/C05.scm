; #pragma unroll in device code, and (by the rule) loops with a constant step whose body names each of its members.

((preproc_call directive: (preproc_directive) argument: (preproc_arg) @what) @at
  (#has? @what "unroll")
  (#set! context device)
  (#set! role pragma))

((for_statement) @at
  (#set! context device)
  (#set! role loop))
