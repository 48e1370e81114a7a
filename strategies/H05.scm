; Loops of the host with launches; the rule looks for what waits in them.

([(for_statement) (while_statement) (do_statement)] @at
  (#set! context host)
  (#set! role loop))
