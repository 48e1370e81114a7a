; Ways out of loops; the rule asks whether data decide.

((break_statement) @at
  (#set! role out))

((return_statement) @at
  (#set! context device)
  (#set! role out))

([(while_statement) (do_statement) (for_statement)] @at
  (#set! role loop))

((continue_statement) @at
  (#set! context device)
  (#set! role skip))
