; Asynchronous copies into shared memory, and (by the rule) tiles with two or more buffers that are filled in turn.

((call_expression function: (_) @what) @at
  (#any-of? @what "memcpy_async" "__pipeline_memcpy_async" "cp_async" "cp_async_bulk" "cp_async_bulk_tensor"
      "make_pipeline" "__pipeline_commit" "__pipeline_wait_prior")
  (#set! context device)
  (#set! confidence 96)
  (#set! says "{} copies to shared memory while the block computes"))

((gnu_asm_expression) @at
  (#has? @at "cp.async")
  (#set! confidence 97)
  (#set! says "cp.async copies to shared memory while the block computes"))

((declaration (type_qualifier) @a) @at
  (#eq? @a "__shared__")
  (#set! role shared))
