# Statistics, store, reports and the command line's tables.
ae_unit_test(stats ae_stats)
ae_unit_test(store ae_store PkgConfig::SQLITE)
ae_unit_test(archive ae_store PkgConfig::SQLITE)
ae_unit_test(utf8 ae_json PkgConfig::JANSSON)
ae_unit_test(base64 ae_base)
ae_unit_test(options ae_cli_options PkgConfig::JANSSON)
ae_unit_test(report ae_report PkgConfig::JANSSON)
ae_unit_test(report_programs ae_report)
