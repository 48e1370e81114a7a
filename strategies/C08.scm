; Floating-point types; the rule compares those of device code with those of the interface.

([(parameter_declaration) (declaration)] @at
  (#set! role type))
