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

/* What models were asked and what they answered. An attempt is written before it goes ('sent') and again when it
 * ended. */
static const char generations[] =
    "CREATE TABLE prompts ("
    "  sha256 TEXT PRIMARY KEY,"
    "  text TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE generations ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  model TEXT NOT NULL,"
    "  parameters TEXT NOT NULL," /* canonical JSON */
    "  entrant TEXT NOT NULL,"
    "  task TEXT NOT NULL,"
    "  sample INTEGER NOT NULL,"
    "  turn INTEGER NOT NULL,"
    "  chain TEXT NOT NULL," /* prompt of turn 0 */
    "  level TEXT NOT NULL,"
    "  prompt TEXT NOT NULL REFERENCES prompts(sha256),"
    "  created_ns INTEGER NOT NULL,"
    "  state TEXT NOT NULL,"
    "  finish TEXT NOT NULL DEFAULT '',"
    "  answered_by TEXT NOT NULL DEFAULT '',"
    "  answer BLOB,"
    "  source TEXT NOT NULL DEFAULT ''," /* of submissions; '' where none was found */
    "  notes TEXT NOT NULL DEFAULT '',"
    "  repaired INTEGER NOT NULL DEFAULT 0,"
    "  detail TEXT NOT NULL DEFAULT '',"
    "  verdict TEXT NOT NULL DEFAULT '',"
    "  verdict_detail TEXT NOT NULL DEFAULT '',"
    "  speedup REAL,"
    "  UNIQUE (model, parameters, entrant, task, sample, turn, chain)"
    ") STRICT;"
    "CREATE INDEX generations_entrant ON generations (entrant, task, sample, turn);"
    "CREATE TABLE attempts ("
    "  generation INTEGER NOT NULL REFERENCES generations(id),"
    "  number INTEGER NOT NULL,"
    "  sent_ns INTEGER NOT NULL,"
    "  outcome TEXT NOT NULL,"
    "  detail TEXT NOT NULL DEFAULT '',"
    "  status INTEGER NOT NULL DEFAULT 0,"
    "  wall_ns INTEGER NOT NULL DEFAULT 0,"
    "  input_tokens INTEGER,"
    "  output_tokens INTEGER,"
    "  reasoning_tokens INTEGER,"
    "  cost REAL,"                            /* NULL: not known */
    "  billed INTEGER NOT NULL DEFAULT 1," /* may have been; while it is under way, too */
    "  response BLOB,"
    "  PRIMARY KEY (generation, number)"
    ") STRICT;";

/* Baselines may come from another machine. */
static const char baseline_places[] = "ALTER TABLE measurements ADD COLUMN baseline_place TEXT NOT NULL DEFAULT '';";

/* Programs read by models. Nothing that a verdict or a table of results rests on refers to these. */
static const char readings[] =
    "CREATE TABLE readings ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  submission TEXT NOT NULL REFERENCES submissions(sha256),"
    "  task TEXT NOT NULL," /* '' where it is not known */
    "  model TEXT NOT NULL,"
    "  parameters TEXT NOT NULL," /* canonical JSON */
    "  prompt TEXT NOT NULL REFERENCES prompts(sha256),"
    "  told INTEGER NOT NULL," /* the prompt holds the findings of the search */
    "  created_ns INTEGER NOT NULL,"
    "  state TEXT NOT NULL,"
    "  detail TEXT NOT NULL,"
    "  answered_by TEXT NOT NULL,"
    "  answer BLOB,"
    "  input_tokens INTEGER,"
    "  output_tokens INTEGER,"
    "  cost REAL," /* NULL: not known */
    "  UNIQUE (submission, model, parameters, prompt)"
    ") STRICT;"
    "CREATE TABLE reading_findings ("
    "  reading INTEGER NOT NULL REFERENCES readings(id),"
    "  strategy TEXT NOT NULL,"
    "  presence TEXT NOT NULL,"
    "  confidence REAL NOT NULL,"
    "  sentence TEXT NOT NULL,"
    "  lines TEXT NOT NULL," /* '3-7,12-12' */
    "  PRIMARY KEY (reading, strategy)"
    ") STRICT, WITHOUT ROWID;";

/* What `eval --profile` found out of a measurement. */
static const char explanations[] =
    "CREATE TABLE explanations ("
    "  measurement INTEGER PRIMARY KEY REFERENCES measurements(id),"
    "  call_ns INTEGER NOT NULL,"  /* of the explained call, to which the phases' own times add up */
    "  timed_ns INTEGER NOT NULL," /* without the tracer; 0: not known */
    "  floor_ns INTEGER NOT NULL," /* 0: not known */
    "  calls INTEGER NOT NULL,"
    "  dropped INTEGER NOT NULL,"
    "  note TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE phases ("
    "  measurement INTEGER NOT NULL REFERENCES explanations(measurement),"
    "  phase TEXT NOT NULL,"
    "  own_ns INTEGER NOT NULL,"
    "  busy_ns INTEGER NOT NULL,"
    "  floor_ns INTEGER NOT NULL,"
    "  PRIMARY KEY (measurement, phase)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE reasons ("
    "  measurement INTEGER NOT NULL REFERENCES explanations(measurement),"
    "  number INTEGER NOT NULL," /* the most important first */
    "  rule TEXT NOT NULL,"
    "  text TEXT NOT NULL,"
    "  share REAL NOT NULL,"
    "  gain_ns INTEGER NOT NULL,"
    "  PRIMARY KEY (measurement, number)"
    ") STRICT, WITHOUT ROWID;";

/* What the timed instances ask for, and what the machine needs for that at least (0: not known). */
static const char floors[] = "ALTER TABLE measurements ADD COLUMN work_in REAL NOT NULL DEFAULT 0;"
                             "ALTER TABLE measurements ADD COLUMN work_out REAL NOT NULL DEFAULT 0;"
                             "ALTER TABLE measurements ADD COLUMN work_operations REAL NOT NULL DEFAULT 0;"
                             "ALTER TABLE measurements ADD COLUMN work_steps REAL NOT NULL DEFAULT 0;"
                             "ALTER TABLE measurements ADD COLUMN floor_ns INTEGER NOT NULL DEFAULT 0;";

const char *const ae_store_migrations[] = {first,    second,      generations, baseline_places,
                                           readings, explanations, floors};
const int ae_store_version = sizeof ae_store_migrations / sizeof *ae_store_migrations;
