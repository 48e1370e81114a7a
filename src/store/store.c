#include "store/internal.h"

#include "base/file.h"
#include "store/schema.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

/* --- errors and small helpers --------------------------------------------------------------------------- */

int ae_store_error(const struct ae_store *store, int rc, const char *action, struct ae_error *err)
{
    const char *path = store->path, *why = store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_NOTADB:
        return ae_error_set(err, AE_E_INPUT,
                            "cannot %s: %s is not a results file of AccelEval; move it away or name another store",
                            action, path);
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
        return ae_error_set(err, AE_E_INPUT,
                            "cannot %s: %s is damaged (%s); what can be saved comes out with "
                            "'sqlite3 %s .recover | sqlite3 mended.db'",
                            action, path, why, path);
    case SQLITE_FULL:
        return ae_error_set(err, AE_E_ENV, "cannot %s: no space for %s; free some and repeat (eval with --resume)", action,
                            path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
        return ae_error_set(
            err, AE_E_ENV,
            "cannot %s: %s (or its folder) cannot be opened or written (%s); check its permissions or "
            "name another store",
            action, path, why);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return ae_error_set(err, AE_E_TIMEOUT, "cannot %s: another process kept %s locked for %d s; repeat later",
                            action, path, AE_STORE_BUSY_MS / 1000);
    case SQLITE_NOMEM:
        return ae_error_set(err, AE_E_NOMEM, "cannot %s: no memory", action);
    case SQLITE_IOERR:
        return ae_error_errno(err, AE_E_IO, store->db ? sqlite3_system_errno(store->db) : 0,
                              "cannot %s: reading or writing %s failed (%s); check the disk and the space on it",
                              action, path, why);
    case SQLITE_TOOBIG:
        return ae_error_set(err, AE_E_INPUT, "cannot %s: a text is too large for %s", action, path);
    default:
        return ae_error_set(err, AE_E_INTERNAL, "cannot %s in %s: %s", action, path, why);
    }
}

void ae_cleanup_statement(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
}

int ae_store_prepare(struct ae_store *store, const char *sql, sqlite3_stmt **ret, const char *action,
                     struct ae_error *err)
{
    const int rc = sqlite3_prepare_v2(store->db, sql, -1, ret, NULL);
    return rc == SQLITE_OK ? AE_OK : ae_store_error(store, rc, action, err);
}

int ae_store_step_done(struct ae_store *store, sqlite3_stmt *statement, const char *action, struct ae_error *err)
{
    const int rc = sqlite3_step(statement);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? AE_OK : ae_store_error(store, rc, action, err);
}

static int execute(struct ae_store *store, const char *sql, const char *action, struct ae_error *err)
{
    const int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? AE_OK : ae_store_error(store, rc, action, err);
}

int ae_store_begin(struct ae_store *store, const char *action, struct ae_error *err)
{
    return execute(store, "BEGIN IMMEDIATE", action, err);
}

int ae_store_commit(struct ae_store *store, const char *action, struct ae_error *err)
{
    const int r = execute(store, "COMMIT", action, err);
    if (r != AE_OK)
        ae_store_rollback(store);
    return r;
}

void ae_store_rollback(struct ae_store *store)
{
    if (!sqlite3_get_autocommit(store->db))
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

int ae_store_view_begin(struct ae_store *store, bool *ret_outermost, const char *action, struct ae_error *err)
{
    *ret_outermost = sqlite3_get_autocommit(store->db) != 0;
    return *ret_outermost ? execute(store, "BEGIN", action, err) : AE_OK;
}

void ae_store_view_end(struct ae_store *store, bool outermost)
{
    if (outermost)
        ae_store_rollback(store);
}

const char *ae_column_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

void ae_column_copy(sqlite3_stmt *statement, int column, char *field, size_t size)
{
    snprintf(field, size, "%s", ae_column_text(statement, column));
}

int ae_column_int(sqlite3_stmt *statement, int column)
{
    const sqlite3_int64 value = sqlite3_column_int64(statement, column);
    return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
}

void ae_bind_text(sqlite3_stmt *statement, int parameter, const char *text)
{
    /* a failed binding leaves NULL behind, which every column that matters refuses */
    (void)sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC);
}

/* --- where ------------------------------------------------------------------------------------------------ */

int ae_store_default_path(char ret_path[AE_STORE_PATH_MAX], struct ae_error *err)
{
    const char *store = getenv("ACCELEVAL_STORE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int n;
    if (store && *store)
        n = snprintf(ret_path, AE_STORE_PATH_MAX, "%s", store);
    else if (data && *data == '/') /* the XDG specification: relative ones are to be ignored */
        n = snprintf(ret_path, AE_STORE_PATH_MAX, "%s/acceleval/results.db", data);
    else if (home && *home)
        n = snprintf(ret_path, AE_STORE_PATH_MAX, "%s/.local/share/acceleval/results.db", home);
    else
        return ae_error_set(err, AE_E_ENV,
                            "there is no home folder for the results; set ACCELEVAL_STORE to a file");
    if (n < 0 || n >= AE_STORE_PATH_MAX)
        return ae_error_set(err, AE_E_USAGE, "the path of the store is too long");
    return AE_OK;
}

/* WAL shares memory between the writers, which two hosts cannot; SQLite does not notice by itself. */
static bool on_network(const char *path)
{
    static const unsigned long network[] = {
        0x6969,     /* NFS */
        0xff534d42, /* CIFS */
        0xfe534d42, /* SMB2 */
        0x517b,     /* SMB */
        0x0bd00bd0, /* Lustre */
        0x47504653, /* GPFS */
        0x19830326, /* BeeGFS */
        0xaad7aaea, /* PanFS */
        0x00c36400, /* Ceph */
        0x01021997, /* 9P */
        0x5346414f, /* AFS */
        0x65735546, /* FUSE: sshfs and the like */
    };
    char folder[AE_STORE_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        snprintf(folder, sizeof folder, ".");
    else
        slash[slash == folder] = 0;
    struct statfs fs;
    if (statfs(folder, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof network / sizeof *network; i++)
        if (((unsigned long)fs.f_type & 0xffffffff) == network[i])
            return true;
    return false;
}

/* --- opening ---------------------------------------------------------------------------------------------- */

static const char opening[] = "open the results";

static int query_int(struct ae_store *store, const char *sql, int *ret, struct ae_error *err)
{
    ae_autostatement sqlite3_stmt *statement = NULL;
    const int r = ae_store_prepare(store, sql, &statement, opening, err);
    if (r != AE_OK)
        return r;
    const int rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW)
        return ae_store_error(store, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, opening, err);
    *ret = ae_column_int(statement, 0);
    return AE_OK;
}

/* Changing the journal does not wait for locks as other statements do. */
static int set_journal(struct ae_store *store, const char *mode, struct ae_error *err)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s", mode);
    for (int waited = 0;; waited += 10) {
        ae_autostatement sqlite3_stmt *statement = NULL;
        int rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
        if (rc == SQLITE_OK)
            rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
            snprintf(store->journal, sizeof store->journal, "%s",
                     rc == SQLITE_ROW ? ae_column_text(statement, 0) : "");
            return AE_OK;
        }
        if ((rc & 0xff) != SQLITE_BUSY || waited >= AE_STORE_BUSY_MS)
            return ae_store_error(store, rc, opening, err);
        const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
        (void)nanosleep(&pause, NULL);
    }
}

/* Is this ours, and which version? An empty file is ours at version 0. */
static int identify(struct ae_store *store, int *ret_version, struct ae_error *err)
{
    int application = 0, objects = 0, r;
    /* Another process may be making the file: what it commits between these questions, it commits together with
     * application_id, which is therefore asked for last. */
    if ((r = query_int(store, "SELECT count(*) FROM sqlite_schema", &objects, err)) != AE_OK ||
        (r = query_int(store, "PRAGMA user_version", ret_version, err)) != AE_OK ||
        (r = query_int(store, "PRAGMA application_id", &application, err)) != AE_OK)
        return r;
    if (application != AE_STORE_APPLICATION_ID && (application != 0 || objects != 0 || *ret_version != 0))
        return ae_error_set(err, AE_E_INPUT,
                            "%s is an SQLite file of another program; move it away or name another store",
                            store->path);
    if (*ret_version > ae_store_version)
        return ae_error_set(
            err, AE_E_INPUT,
            "%s was written by a newer acceleval (format %d, this program knows %d); use that one, or "
            "name another store",
            store->path, *ret_version, ae_store_version);
    if (*ret_version < 0)
        return ae_error_set(err, AE_E_INPUT, "%s is damaged: its format is %d", store->path, *ret_version);
    return AE_OK;
}

static int migrate(struct ae_store *store, struct ae_error *err)
{
    static const char action[] = "bring the results to this program's format";
    int version = 0, r = ae_store_begin(store, action, err);
    if (r != AE_OK)
        return r;
    r = identify(store, &version, err); /* again: another process may have been first */
    for (int step = version; r == AE_OK && step < ae_store_version; step++)
        r = execute(store, ae_store_migrations[step], action, err);
    if (r == AE_OK) {
        char sql[96];
        snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", AE_STORE_APPLICATION_ID,
                 ae_store_version);
        r = execute(store, sql, action, err);
    }
    if (r != AE_OK) {
        ae_store_rollback(store);
        return r;
    }
    return ae_store_commit(store, action, err);
}

static int configure(struct ae_store *store, enum ae_store_mode mode, struct ae_error *err)
{
    (void)sqlite3_extended_result_codes(store->db, 1);
    (void)sqlite3_busy_timeout(store->db, AE_STORE_BUSY_MS);
    /* the file may be hostile: no functions from its schema, no writing to internal tables */
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    int version = 0, r = identify(store, &version, err);
    if (r != AE_OK)
        return r;
    const bool writable = sqlite3_db_readonly(store->db, "main") == 0;
    if (mode == AE_STORE_WRITE && !writable)
        return ae_store_error(store, SQLITE_READONLY, opening, err);
    if (mode == AE_STORE_WRITE) {
        const bool network = on_network(store->path);
        if ((r = set_journal(store, network ? "DELETE" : "WAL", err)) != AE_OK)
            return r;
        if (!network && strcmp(store->journal, "wal") != 0 && (r = set_journal(store, "DELETE", err)) != AE_OK)
            return r;
    }
    /* FULL: a commit is on the disk when it returns, in both journals. */
    if ((r = execute(store, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA cache_size = -65536",
                     opening, err)) != AE_OK)
        return r;
    if (version == ae_store_version)
        return AE_OK;
    if (!writable)
        return ae_error_set(err, AE_E_ENV,
                            "%s has an older format and cannot be written here; copy it to where it can be",
                            store->path);
    return migrate(store, err);
}

/* Escapes a path for a URI; SQLite takes immutable=1 from there only. */
static void path_to_uri(const char *path, const char *query, char *uri, size_t size)
{
    size_t used = (size_t)snprintf(uri, size, "file:");
    while (path[0] == '/' && path[1] == '/') /* "//" would begin a host name */
        path++;
    for (; *path && used + 4 < size; path++) {
        if (strchr("?#%", *path))
            used += (size_t)snprintf(uri + used, size - used, "%%%02x", (unsigned char)*path);
        else
            uri[used++] = *path;
    }
    snprintf(uri + used, size - used, "%s", query);
}

static int open_as(struct ae_store *store, const char *query, int flags, enum ae_store_mode mode,
                   struct ae_error *err)
{
    static const int common = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    char uri[3 * AE_STORE_PATH_MAX + 64];
    path_to_uri(store->path, query, uri, sizeof uri);
    const int rc = sqlite3_open_v2(uri, &store->db, flags | common, NULL);
    const int r = rc == SQLITE_OK ? configure(store, mode, err) : ae_store_error(store, rc, opening, err);
    if (r != AE_OK) {
        (void)sqlite3_close(store->db);
        store->db = NULL;
    }
    return r;
}

static int make_parent(const char *path, struct ae_error *err)
{
    char folder[AE_STORE_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder)
        return AE_OK;
    *slash = 0;
    if (ae_file_exists(folder))
        return AE_OK;
    struct ae_error inner = {0};
    if (ae_folder_make(folder, &inner) != AE_OK)
        return ae_error_set(err, AE_E_ENV, "no place for the results: %s; set ACCELEVAL_STORE to another file",
                            inner.text);
    return AE_OK;
}

/* SQLite's words for what is no file are those for a broken disk. */
static int check_kind(const char *path, struct ae_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
        return AE_OK;
    return ae_error_set(err, AE_E_ENV, "%s is %s: the results lie in one file, which ACCELEVAL_STORE names", path,
                        S_ISDIR(st.st_mode) ? "a folder" : "no regular file");
}

int ae_store_open(struct ae_store **ret, const char *path, enum ae_store_mode mode, struct ae_error *err)
{
    struct ae_store *store = calloc(1, sizeof *store);
    if (!store)
        return ae_error_set(err, AE_E_NOMEM, "no memory to open the results");
    int r = AE_OK;
    if (!path)
        r = ae_store_default_path(store->path, err);
    else if (!*path || strlen(path) >= sizeof store->path)
        r = ae_error_set(err, AE_E_USAGE, "the path of the store is empty or too long");
    else
        snprintf(store->path, sizeof store->path, "%s", path);
    if (r == AE_OK && mode == AE_STORE_READ && !ae_file_exists(store->path))
        r = ae_error_set(err, AE_E_NOTFOUND,
                         "there are no results yet (%s is missing); 'acceleval eval' makes some", store->path);
    if (r == AE_OK)
        r = check_kind(store->path, err);
    if (r == AE_OK && mode == AE_STORE_WRITE)
        r = make_parent(store->path, err);
    const bool tried = r == AE_OK;
    if (tried)
        r = open_as(store, "", SQLITE_OPEN_READWRITE | (mode == AE_STORE_WRITE ? SQLITE_OPEN_CREATE : 0), mode,
                    err);
    if (tried && r == AE_E_ENV && mode == AE_STORE_READ) {
        /* A read-only place has no room for WAL's shared memory. Where no WAL is left behind, nobody writes. */
        char wal[AE_STORE_PATH_MAX + 8];
        snprintf(wal, sizeof wal, "%s-wal", store->path);
        if (!ae_file_exists(wal) && access(store->path, R_OK) == 0)
            r = open_as(store, "?immutable=1", SQLITE_OPEN_READONLY, mode, err);
    }
    if (r != AE_OK) {
        free(store);
        return r;
    }
    *ret = store;
    return AE_OK;
}

void ae_store_close(struct ae_store *store)
{
    if (!store)
        return;
    (void)sqlite3_close(store->db);
    free(store);
}

const char *ae_store_path(const struct ae_store *store)
{
    return store->path;
}

const char *ae_store_journal(const struct ae_store *store)
{
    return store->journal;
}
