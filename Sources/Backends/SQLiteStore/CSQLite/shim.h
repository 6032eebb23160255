#include <sqlite3.h>
#include <stddef.h>

/* Binds bytes that stay where they are until the binding is cleared. */
static inline int ld_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, count == 0 ? "" : bytes, count, SQLITE_STATIC, SQLITE_UTF8);
}

/* Bytes that stay where they are; an empty value is not the same as NULL. */
static inline int ld_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, count == 0 ? "" : bytes, count, SQLITE_STATIC);
}

/* A database is what a file says: its schema is not trusted to call functions, and SQL cannot damage the file. */
static inline void ld_sqlite_harden(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
}
