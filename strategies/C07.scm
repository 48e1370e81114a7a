; Intrinsics and functions that are cheaper than what they replace; reciprocals by the rule.

((call_expression function: (_) @what) @at
  (#any-of? @what "__expf" "__exp10f" "__logf" "__log2f" "__log10f" "__powf" "__sinf" "__cosf" "__tanf" "__sincosf"
      "__fdividef" "__fdiv_rz" "__frcp_rn" "__frcp_rz" "__frsqrt_rn" "__drcp_rn" "__saturatef" "rsqrtf" "rsqrt" "sincosf" "sincos" "sincospif" "sincospi"
      "__mul24" "__umul24" "__umulhi" "__mulhi" "__umul64hi" "__dp4a" "__vaddus4" "__viaddmin_s32" "__vmaxs4"
      "__vmaxs2" "__vmins2" "__viaddmax_s16x2" "__viaddmin_s16x2" "__viaddmax_s32" "__vimin3_s32" "__vimax3_s32")
  (#set! context device)
  (#set! confidence 93)
  (#set! says "{} is cheaper than what it replaces"))

((call_expression function: (_) @what) @at
  (#any-of? @what "fmaf" "fma" "__fmaf_rn" "__fma_rn" "__fmaf_rz" "__hfma2")
  (#set! context device)
  (#set! confidence 85)
  (#set! says "{} rounds once instead of twice and takes one instruction"))

((gnu_asm_expression) @at
  (#has? @at "ex2.approx" "lg2.approx" "rcp.approx" "rsqrt.approx" "sqrt.approx" "tanh.approx" "fma.rn")
  (#set! confidence 97)
  (#set! says "an approximate instruction is written out"))

((init_declarator declarator: (_) @a value: (_) @b) @at
  (#set! context device)
  (#set! role reciprocal))
