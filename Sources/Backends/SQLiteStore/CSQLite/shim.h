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

/* Writes zeros into a database's file between two offsets, as far as they are beyond its end. Other connections may be
 * copying pages of earlier changes there, so the range may only have pages of the running change or none. */
static inline int ld_sqlite_extend(sqlite3 *connection, sqlite3_int64 from, sqlite3_int64 to) {
    static const char zeros[4096];
    sqlite3_file *file = NULL;
    sqlite3_int64 end = 0;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code == SQLITE_OK) code = file->pMethods->xFileSize(file, &end);
    if (from < end) from = end;
    while (code == SQLITE_OK && from < to) {
        sqlite3_int64 count = to - from < (sqlite3_int64)sizeof zeros ? to - from : (sqlite3_int64)sizeof zeros;
        code = file->pMethods->xWrite(file, zeros, (int)count, from);
        from += count;
    }
    return code;
}

/* Allocates the blocks of the log's index on the disk: SQLite allocates one byte of each page, and where blocks are
 * smaller and the disk is full, writing to the others ends the process. Other processes may be using the index. */
static inline void ld_sqlite_allocate_index(sqlite3 *connection) {
    enum { size = 32768, block = 512 };
    sqlite3_file *file = NULL;
    void volatile *start = NULL;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return;
    if (file->pMethods->iVersion < 2 || file->pMethods->xShmMap(file, 0, size, 1, &start) != SQLITE_OK || start == NULL)
        return;
    for (int i = 0; i < size; i += block) __atomic_fetch_or((unsigned char volatile *)start + i, 0, __ATOMIC_RELAXED);
}

/* Takes a name as it is. */
static int ld_sqlite_verbatim(sqlite3_vfs *vfs, const char *name, int size, char *out) {
    size_t count = 0;
    (void)vfs;
    while (name[count] != 0) ++count;
    if (count >= (size_t)size) return SQLITE_CANTOPEN;
    for (size_t i = 0; i <= count; ++i) out[i] = name[i];
    return SQLITE_OK;
}

/* Makes a VFS that is SQLite's own for Unix but for one thing: it opens /proc/self/fd/N/NAME by that path, and not by
 * the one that it finds N to have. So the database, its log and its index are found in the folder that is open,
 * whatever others put at its path meanwhile. Not by two threads at once; NULL if SQLite has none. */
static inline const char *ld_sqlite_make_folder_vfs(void) {
    static sqlite3_vfs folder;
    sqlite3_vfs *unix_vfs = sqlite3_vfs_find("unix");
    if (unix_vfs == NULL) return NULL;
    folder = *unix_vfs;
    folder.pNext = NULL;
    folder.zName = "localdata-folder";
    folder.xFullPathname = ld_sqlite_verbatim;
    return sqlite3_vfs_register(&folder, 0) == SQLITE_OK ? folder.zName : NULL;
}
