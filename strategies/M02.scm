; Elements copied as they are; the rule asks where, and whether the place differs from where they came from.

((assignment_expression left: [(subscript_expression) (field_expression argument: (subscript_expression))] @a right: (_) @b) @at
  (#set! role copy))
