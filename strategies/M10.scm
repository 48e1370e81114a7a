; Loops of device code that hold a barrier or a local array; the rule asks for state that is carried and for stores
; after them.

([(for_statement) (while_statement) (do_statement)] @at
  (#set! context device)
  (#set! role loop))
