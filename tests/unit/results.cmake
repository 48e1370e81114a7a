# Statistics, store, reports and the command line's tables: one program a module.
function(ae_unit_test name)
  add_executable(unit_${name} ${name}_test.c)
  target_link_libraries(unit_${name} PRIVATE ${ARGN} PkgConfig::CMOCKA)
  add_test(NAME unit/${name} COMMAND unit_${name})
  set_tests_properties(unit/${name} PROPERTIES TIMEOUT 120 LABELS unit)
endfunction()

ae_unit_test(stats ae_stats)
ae_unit_test(store ae_store PkgConfig::SQLITE)
ae_unit_test(utf8 ae_base)
ae_unit_test(options ae_cli_options PkgConfig::JANSSON)
ae_unit_test(report ae_report PkgConfig::JANSSON)
