; Loops of the host with launches and loops of the device with barriers; the rule looks for fronts: the difference of
; the
; loop's index and the thread's, or levels given by offsets.

([(for_statement) (while_statement)] @at
  (#set! role loop))
