#include "store/schema.h"

/* Words, not numbers, for every enum: a file must outlive a reordering, and people ask it questions in SQL. */
static const char first[] = "CREATE TABLE environments ("
                            "  id TEXT PRIMARY KEY," /* SHA-256 of json */
                            "  name TEXT NOT NULL,"
                            "  json TEXT NOT NULL"
                            ") STRICT;"
                            "CREATE TABLE submissions ("
                            "  sha256 TEXT PRIMARY KEY,"
                            "  language TEXT NOT NULL,"
                            "  source BLOB NOT NULL,"
                            "  first_seen_ns INTEGER NOT NULL"
                            ") STRICT;"
                            "CREATE TABLE runs ("
                            "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
                            "  started_ns INTEGER NOT NULL,"
                            "  finished_ns INTEGER NOT NULL DEFAULT 0," /* 0: running, or killed */
                            "  command TEXT NOT NULL,"
                            "  options TEXT NOT NULL," /* JSON */
                            "  version TEXT NOT NULL,"
                            "  environment TEXT NOT NULL REFERENCES environments(id),"
                            "  seeded INTEGER NOT NULL"
                            ") STRICT;"
                            "CREATE TABLE measurements ("
                            "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
                            "  run INTEGER NOT NULL REFERENCES runs(id),"
                            "  submission TEXT NOT NULL REFERENCES submissions(sha256),"
                            "  entrant TEXT NOT NULL,"
                            "  sample INTEGER NOT NULL,"
                            "  task TEXT NOT NULL,"
                            "  task_version INTEGER NOT NULL,"
                            "  size TEXT NOT NULL,"
                            "  target TEXT NOT NULL,"
                            "  options_key TEXT NOT NULL,"
                            "  source_path TEXT NOT NULL,"
                            "  verdict TEXT NOT NULL,"
                            "  violation TEXT NOT NULL," /* '' where it is none */
                            "  detail TEXT NOT NULL,"
                            "  log TEXT,"
                            "  compile_ns INTEGER NOT NULL,"
                            "  started_ns INTEGER NOT NULL,"
                            "  wall_ns INTEGER NOT NULL,"
                            "  notes INTEGER NOT NULL,"
                            "  sandbox INTEGER NOT NULL,"
                            "  cores INTEGER NOT NULL,"
                            "  seeded INTEGER NOT NULL,"
                            "  device_uuid TEXT NOT NULL,"
                            "  UNIQUE (run, submission, entrant, sample, task, size, target)"
                            ") STRICT;"
                            "CREATE INDEX measurements_resume ON measurements (submission, task, size, target);"
                            "CREATE TABLE trials ("
                            "  measurement INTEGER NOT NULL REFERENCES measurements(id),"
                            "  number INTEGER NOT NULL," /* order of execution */
                            "  kind TEXT NOT NULL,"
                            "  load INTEGER NOT NULL," /* the group */
                            "  family INTEGER NOT NULL,"
                            "  instance INTEGER NOT NULL,"
                            "  verdict TEXT NOT NULL,"
                            "  violation TEXT NOT NULL,"
                            "  call_ns INTEGER NOT NULL,"
                            "  return_ns INTEGER NOT NULL,"
                            "  reference_ns INTEGER NOT NULL,"
                            "  cpu_ns INTEGER NOT NULL,"
                            "  sm_mhz INTEGER NOT NULL,"
                            "  temperature_c INTEGER NOT NULL,"
                            "  disturbed INTEGER NOT NULL,"
                            "  max_share REAL," /* NULL: NaN */
                            "  PRIMARY KEY (measurement, number)"
                            ") STRICT, WITHOUT ROWID;";

/* Which instances a run saw, so that two entrants are compared in pairs only where they saw the same ones. */
static const char second[] = "ALTER TABLE runs ADD COLUMN bank TEXT NOT NULL DEFAULT '';"
                             "CREATE INDEX measurements_entrant ON measurements (entrant, task, size);";

const char *const ae_store_migrations[] = {first, second};
const int ae_store_version = sizeof ae_store_migrations / sizeof *ae_store_migrations;
