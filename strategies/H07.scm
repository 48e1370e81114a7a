; Loops and calls of the host; the rule asks whether they lie between a launch and the wait for it.

([(for_statement) (while_statement) (for_range_loop)] @at
  (#set! context host)
  (#set! role loop))
