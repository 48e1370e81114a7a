; Launches and barriers of the whole grid, and (by the rule) waiting loops on a counter in memory.

((call_expression function: (_) @what) @at
  (#any-of? @what "cudaLaunchCooperativeKernel" "cuLaunchCooperativeKernel")
  (#set! confidence 96)
  (#set! says "{}: all blocks stay and can wait for each other"))

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "cudaLaunchAttributeCooperative")
  (#set! confidence 93)
  (#set! says "{}: all blocks stay and can wait for each other"))

((call_expression function: (field_expression field: (field_identifier) @what)) @at
  (#any-of? @what "sync")
  (#set! context device)
  (#set! role sync))

([(while_statement) (do_statement) (for_statement)] @at
  (#set! context device)
  (#set! role loop))
