; Decided by reading. The pattern finds the program's entry for the reader.

((function_definition declarator: (function_declarator declarator: (identifier) @what)) @at
  (#eq? @what "solution_compute")
  (#set! role entry))
