; Nothing here says how many passes the reference makes: this is decided by reading. The pattern only finds the kernels
; that
; a reader would look at.

((function_definition) @at
  (#set! context kernel)
  (#set! role kernel))
