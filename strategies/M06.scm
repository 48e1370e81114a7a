; Loads named as read-only, and const __restrict__ parameters of kernels (by the rule).

((call_expression function: (_) @what) @at
  (#any-of? @what "__ldg")
  (#set! context device)
  (#set! confidence 95)
  (#set! says "{} loads through the read-only path"))

((call_expression function: (_) @what) @at
  (#any-of? @what "tex1Dfetch" "tex1D" "tex2D" "tex3D" "tex2DLayered" "tex1DLayered" "tex2Dgather")
  (#set! context device)
  (#set! confidence 95)
  (#set! says "{} reads a texture"))

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "cudaCreateTextureObject" "cudaTextureObject_t")
  (#set! confidence 92)
  (#set! says "{}: data are read as a texture"))

((gnu_asm_expression) @at
  (#has? @at "ld.global.nc")
  (#set! confidence 97)
  (#set! says "ld.global.nc loads through the read-only path"))

((parameter_declaration (type_qualifier) declarator: (pointer_declarator)) @at
  (#set! role pointer))
