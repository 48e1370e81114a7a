; Accesses of device code; the rule weighs those of global memory by loops around them and asks how their address moves
; from thread to thread.

([(subscript_expression) (pointer_expression)] @at
  (#set! context device)
  (#set! role access))
