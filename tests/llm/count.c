/* llm_count STORE: answered generations in a store, while others write to it. */
#include <sqlite3.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    if (argc != 2 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return 1;
    (void)sqlite3_busy_timeout(db, 5000);
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM generations WHERE state = 'answered'", -1, &statement, NULL) !=
            SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        return 1;
    printf("%d\n", sqlite3_column_int(statement, 0));
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return 0;
}
