/*
 * Keeps values in a SQLite database with prepared statements, and does nothing else: sqlite FILE
 *
 * Reads lines from standard input and answers each with a number. Tables, settings and what is bound are those of the
 * SQLite store.
 *
 *   fill COUNT SIZE     values "key-0000000" and so on, in one transaction; nanoseconds of one
 *   get COUNT TIMES     reads of names spread over the first COUNT; nanoseconds of one
 *   set SIZE TIMES      durable sets of one name; nanoseconds of one
 *   batch SIZE TIMES    transactions of 1,000 sets; nanoseconds of one transaction
 *   open COUNT TIMES    opens the database, reads one value, closes it; nanoseconds of one
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *database;
static sqlite3_stmt *reading, *writing, *begin, *commit;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "error: %s: %s\n", what, sqlite3_errmsg(database));
    exit(1);
}

static double nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static sqlite3_stmt *prepare(const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) fail(text);
    return statement;
}

static void run(const char *text) {
    if (sqlite3_exec(database, text, NULL, NULL, NULL) != SQLITE_OK) fail(text);
}

static void step(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail("step");
    sqlite3_reset(statement);
}

static void open_database(const char *path) {
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)
        != SQLITE_OK) {
        fail(path);
    }
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST;"
        "PRAGMA journal_size_limit = 16777216; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;"
        "CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY, domain TEXT NOT NULL, scope TEXT NOT NULL,"
        " UNIQUE (domain, scope)) STRICT;"
        "CREATE TABLE IF NOT EXISTS value (place INTEGER NOT NULL REFERENCES place, name TEXT NOT NULL,"
        " version INTEGER NOT NULL, modified INTEGER NOT NULL, size INTEGER NOT NULL, content_type TEXT,"
        " serializer TEXT, version_tag TEXT, app_version TEXT, owner TEXT, content BLOB,"
        " PRIMARY KEY (place, name)) STRICT, WITHOUT ROWID");
    reading = prepare("SELECT content FROM value WHERE place = ?1 AND name = ?2");
    writing = prepare(
        "INSERT OR REPLACE INTO value (place, name, version, modified, size, content_type, serializer, version_tag,"
        " app_version, owner, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
    begin = prepare("BEGIN IMMEDIATE");
    commit = prepare("COMMIT");
}

static void close_database(void) {
    sqlite3_finalize(reading);
    sqlite3_finalize(writing);
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_close(database);
}

static void name(char *text, long index) { snprintf(text, 32, "key-%07ld", index); }

static void set(const char *key, const void *value, int size) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    sqlite3_int64 version;
    sqlite3_randomness(sizeof(version), &version);
    sqlite3_bind_int64(writing, 1, 1);
    sqlite3_bind_text(writing, 2, key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(writing, 3, version);
    sqlite3_bind_int64(writing, 4, time.tv_sec * 1000000000 + time.tv_nsec);
    sqlite3_bind_int64(writing, 5, size);
    sqlite3_bind_text(writing, 6, "application/octet-stream", -1, SQLITE_STATIC);
    sqlite3_bind_text(writing, 7, "data", -1, SQLITE_STATIC);
    sqlite3_bind_text(writing, 10, "Benchmarks", -1, SQLITE_STATIC);
    sqlite3_bind_blob(writing, 11, value, size, SQLITE_STATIC);
    step(writing);
}

static void get(const char *key) {
    sqlite3_bind_int64(reading, 1, 1);
    sqlite3_bind_text(reading, 2, key, -1, SQLITE_STATIC);
    if (sqlite3_step(reading) != SQLITE_ROW) fail("get");
    const void *value = sqlite3_column_blob(reading, 0);
    const size_t size = (size_t)sqlite3_column_bytes(reading, 0);
    void *copy = malloc(size);
    if (copy == NULL) fail("malloc");
    memcpy(copy, value, size);
    __asm__ volatile("" : : "r"(copy) : "memory");
    free(copy);
    sqlite3_reset(reading);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    open_database(argv[1]);
    char action[8], key[32], value[16384];
    memset(value, 7, sizeof(value));
    long first, second;
    while (scanf("%7s %ld %ld", action, &first, &second) == 3) {
        const double start = nanoseconds();
        long count = second;
        if (strcmp(action, "fill") == 0) {
            count = first;
            step(begin);
            for (long i = 0; i < first; i++) {
                name(key, i);
                set(key, value, (int)second);
            }
            step(commit);
        } else if (strcmp(action, "get") == 0) {
            for (long i = 0; i < second; i++) {
                name(key, i * 7919 % first);
                get(key);
            }
        } else if (strcmp(action, "set") == 0) {
            for (long i = 0; i < second; i++) {
                step(begin);
                set("set", value, (int)first);
                step(commit);
            }
        } else if (strcmp(action, "batch") == 0) {
            for (long i = 0; i < second; i++) {
                step(begin);
                for (long j = 0; j < 1000; j++) {
                    name(key, j);
                    set(key, value, (int)first);
                }
                step(commit);
            }
        } else {
            for (long i = 0; i < second; i++) {
                close_database();
                open_database(argv[1]);
                name(key, i % first);
                get(key);
            }
        }
        printf("%.1f\n", (nanoseconds() - start) / (double)count);
        fflush(stdout);
    }
    return 0;
}
