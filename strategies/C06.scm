; Templates on device functions, and where they are given arguments.

((template_declaration (function_definition)) @at
  (#set! role template))

((template_function name: (identifier) @what arguments: (template_argument_list) @a) @at
  (#set! role instance))
