/* The numbered migrations: step k takes a file from user_version k to k + 1. A published step is never edited. */
#ifndef AE_STORE_SCHEMA_H
#define AE_STORE_SCHEMA_H

#define AE_STORE_APPLICATION_ID 0x41634576 /* "AcEv": tells our files from other SQLite files */

extern const char *const ae_store_migrations[];
extern const int ae_store_version; /* of this program: the number of migrations */

#endif
