; Graphs and dependent launches, by name.

((call_expression function: (_) @what) @at
  (#starts? @what "cudaGraph" "cudaStreamBeginCapture" "cudaStreamEndCapture" "cuGraph")
  (#set! confidence 96)
  (#set! says "{}: launches are recorded once and replayed"))

([(identifier) (type_identifier) (field_identifier) (namespace_identifier)] @what
  (#any-of? @what "cudaLaunchAttributeProgrammaticStreamSerialization" "cudaGridDependencySynchronize"
      "cudaTriggerProgrammaticLaunchCompletion")
  (#set! confidence 95)
  (#set! says "{}: the next kernel starts before this one ends"))

((gnu_asm_expression) @at
  (#has? @at "griddepcontrol")
  (#set! confidence 97)
  (#set! says "griddepcontrol: the next kernel starts before this one ends"))
