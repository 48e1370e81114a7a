; Pointers cast to vector types, and parameters and fields that are pointers to them; the rule asks what they point to.

((template_argument_list (type_descriptor type: (type_identifier) @what declarator: (abstract_pointer_declarator))) @at
  (#any-of? @what "float4" "float2" "double2" "double4" "int4" "int2" "uint4" "uint2" "longlong2" "ulonglong2"
      "short4" "ushort4" "ulong2" "long2")
  (#set! role cast))

((cast_expression type: (type_descriptor type: (type_identifier) @what declarator: (abstract_pointer_declarator))) @at
  (#any-of? @what "float4" "float2" "double2" "double4" "int4" "int2" "uint4" "uint2" "longlong2" "ulonglong2"
      "short4" "ushort4" "ulong2" "long2")
  (#set! role cast))

((parameter_declaration type: (type_identifier) @what declarator: (pointer_declarator)) @at
  (#any-of? @what "float4" "float2" "double2" "double4" "int4" "int2" "uint4" "uint2" "longlong2" "ulonglong2"
      "short4" "ushort4" "ulong2" "long2")
  (#set! role pointer))

((field_declaration type: (type_identifier) @what declarator: (pointer_declarator)) @at
  (#any-of? @what "float4" "float2" "double2" "double4" "int4" "int2" "uint4" "uint2" "longlong2" "ulonglong2"
      "short4" "ushort4" "ulong2" "long2")
  (#set! role field))
