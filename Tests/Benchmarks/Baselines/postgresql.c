/*
 * Keeps values in a PostgreSQL database with prepared statements, and does nothing else: postgresql URI SCHEMA
 *
 * Reads lines from standard input and answers each with a number. The tables are those of a PostgreSQL store, which has
 * made them and stored a value in the domain "bench"; the statements and what is bound are the store's, too.
 *
 *   fill COUNT SIZE     values "key-0000000" and so on, in one statement; nanoseconds of one
 *   get COUNT TIMES     reads of names spread over the first COUNT; nanoseconds of one
 *   set SIZE TIMES      durable sets of one name; nanoseconds of one
 *   batch SIZE TIMES    transactions of 1,000 sets, sent as one pipeline; nanoseconds of one transaction
 *   list COUNT 0        lists the names with the prefix "key-", which have to be so many; nanoseconds of one
 */
#include <endian.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most = 16384, page = 512 };

static PGconn *connection;
static int32_t place;
/* The number of this program's row in the table of marks. */
static int64_t link_number;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "error: %s: %s\n", what, PQerrorMessage(connection));
    exit(1);
}

static double nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static PGresult *check(PGresult *result, const char *what) {
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_PIPELINE_SYNC) fail(what);
    return result;
}

static void run(const char *text) { PQclear(check(PQexec(connection, text), text)); }

/* Replaces each $S in a text by the schema. */
static const char *in_schema(const char *text, const char *schema) {
    static char filled[4096];
    char *end = filled;
    for (; *text != 0; text++) {
        if (text[0] == '$' && text[1] == 'S') end += sprintf(end, "\"%s\"", schema), text++;
        else if (text[0] == '$' && text[1] == 'N') end += sprintf(end, "%s", schema), text++;
        else *end++ = *text;
    }
    *end = 0;
    return filled;
}

static void prepare(const char *name, const char *text, const char *schema) {
    PQclear(check(PQprepare(connection, name, in_schema(text, schema), 0, NULL), name));
}

#define NOW "(extract(epoch FROM clock_timestamp()) * 1000000)::int8 * 1000"
#define SET \
    "INSERT INTO $S.value AS v (place, name, revision, modified, expires, size, checksum, content_type, serializer," \
    " version_tag, app_version, owner, content)" \
    " VALUES ($1, $2, $3, " NOW ", $4, $5, $6, $7, $8, $9, $10, $11, $12)" \
    " ON CONFLICT (place, name) DO UPDATE SET revision = excluded.revision, modified = excluded.modified," \
    " expires = excluded.expires, size = excluded.size, checksum = excluded.checksum," \
    " content_type = excluded.content_type, serializer = excluded.serializer, version_tag = excluded.version_tag," \
    " app_version = excluded.app_version, owner = excluded.owner, content = excluded.content" \
    " RETURNING nextval('$S.change') AS change, v.expires IS NULL OR v.expires > " NOW " AS found," \
    " (SELECT pg_notify('localdata_$N', '') FROM $S.watcher WHERE until > now() LIMIT 1) AS notified"
#define MARK "ON CONFLICT (link) DO UPDATE SET write = excluded.write, found = excluded.found, made = excluded.made"
#define LIVE "(v.expires IS NULL OR v.expires > " NOW ")"

static void open_database(const char *uri, const char *schema) {
    connection = PQconnectdb(uri);
    if (PQstatus(connection) != CONNECTION_OK) fail(uri);
    run("SET synchronous_commit = on");
    prepare("get",
        "SELECT " LIVE ", v.revision, v.size, v.checksum, v.version_tag, v.content FROM $S.value v"
        " WHERE v.place = $1 AND v.name = $2", schema);
    link_number = (int64_t)nanoseconds();
    prepare("set", SET, schema);
    prepare("set_and_mark",
        "WITH made AS (" SET "), marked AS (INSERT INTO $S.mark (link, write, found)"
        " SELECT $13::int8, $3::int8, made.found FROM made " MARK ") SELECT * FROM made", schema);
    prepare("mark", "INSERT INTO $S.mark (link, write, found) VALUES ($1, $2, true) " MARK, schema);
    prepare("list",
        "SELECT v.name FROM $S.value v WHERE v.place = $1 AND v.name >= $2 AND v.name < $3 AND " LIVE
        " ORDER BY v.name LIMIT $4::int8", schema);
    prepare("fill",
        "INSERT INTO $S.value (place, name, revision, modified, size, checksum, content_type, serializer, owner, content)"
        " SELECT $1, ('key-' || lpad(i::text, 7, '0'))::bytea, i + 1, " NOW ", length($2::bytea), $3::int8,"
        " 'application/octet-stream'::bytea, 'data'::bytea, 'Benchmarks'::bytea, $2::bytea"
        " FROM generate_series(0, $4::int8 - 1) i ON CONFLICT DO NOTHING", schema);
    PGresult *found =
        check(PQexec(connection, in_schema("SELECT id FROM $S.place WHERE domain = 'bench' AND scope = ''", schema)),
            "place");
    if (PQntuples(found) != 1) fail("the store has no value in the domain 'bench'");
    place = atoi(PQgetvalue(found, 0, 0));
    PQclear(found);
}

static uint32_t checksum(const unsigned char *bytes, size_t count) {
    uint32_t sum = ~0u;
    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78u : 0);
    }
    return ~sum;
}

/* The parameters of one call, in binary. */
typedef struct parameters {
    const char *values[13];
    int lengths[13], formats[13], count;
    int64_t numbers[13];
} parameters;

static void add(parameters *all, const void *value, int length) {
    all->values[all->count] = value;
    all->lengths[all->count] = length;
    all->formats[all->count++] = 1;
}

static void add_number(parameters *all, int64_t number) {
    all->numbers[all->count] = (int64_t)htobe64((uint64_t)number);
    add(all, &all->numbers[all->count], 8);
}

static void add_place(parameters *all) {
    static uint32_t number;
    number = htobe32((uint32_t)place);
    add(all, &number, 4);
}

static PGresult *execute(const char *name, const parameters *all) {
    return check(
        PQexecPrepared(connection, name, all->count, all->values, all->lengths, all->formats, 1), name);
}

static void get(const char *key) {
    parameters all = {0};
    add_place(&all);
    add(&all, key, (int)strlen(key));
    PGresult *found = execute("get", &all);
    if (PQntuples(found) != 1) fail("get");
    const size_t size = (size_t)PQgetlength(found, 0, 5);
    void *copy = malloc(size);
    if (copy == NULL) fail("malloc");
    memcpy(copy, PQgetvalue(found, 0, 5), size);
    __asm__ volatile("" : : "r"(copy) : "memory");
    free(copy);
    PQclear(found);
}

static void bind_set(parameters *all, const char *key, const void *value, int size, uint32_t sum) {
    static uint64_t revision;
    if (revision == 0) revision = (uint64_t)nanoseconds();
    add_place(all);
    add(all, key, (int)strlen(key));
    add_number(all, (int64_t)(revision += 0x9e3779b97f4a7c15u));
    add(all, NULL, 0);
    add_number(all, size);
    add_number(all, sum);
    add(all, "application/octet-stream", 24);
    add(all, "data", 4);
    add(all, NULL, 0);
    add(all, NULL, 0);
    add(all, "Benchmarks", 10);
    add(all, value, size);
}

static void set(const char *key, const void *value, int size, uint32_t sum) {
    parameters all = {0};
    bind_set(&all, key, value, size, sum);
    add_number(&all, link_number);
    PQclear(execute("set_and_mark", &all));
}

static void batch(const void *value, int size, uint32_t sum) {
    if (PQenterPipelineMode(connection) != 1) fail("pipeline");
    for (long i = 0; i < 1000; i++) {
        char key[32];
        snprintf(key, sizeof(key), "key-%07ld", i);
        parameters all = {0};
        bind_set(&all, key, value, size, sum);
        if (PQsendQueryPrepared(connection, "set", all.count, all.values, all.lengths, all.formats, 1) != 1) fail("send");
    }
    parameters mark = {0};
    add_number(&mark, link_number);
    add_number(&mark, link_number);
    if (PQsendQueryPrepared(connection, "mark", mark.count, mark.values, mark.lengths, mark.formats, 1) != 1) fail("send");
    if (PQpipelineSync(connection) != 1) fail("sync");
    for (long i = 0; i < 1001; i++) {
        PQclear(check(PQgetResult(connection), "batch"));
        if (PQgetResult(connection) != NULL) fail("batch");
    }
    PQclear(check(PQgetResult(connection), "sync"));
    if (PQexitPipelineMode(connection) != 1) fail("pipeline");
}

static void list(long expected) {
    char from[64] = "key-";
    int length = 4;
    long count = 0;
    for (int rows = page; rows == page;) {
        parameters all = {0};
        add_place(&all);
        add(&all, from, length);
        add(&all, "key.", 4);
        add_number(&all, page);
        PGresult *found = execute("list", &all);
        rows = PQntuples(found);
        count += rows;
        if (rows > 0) {
            /* After the last name, with a byte 0 appended. */
            length = PQgetlength(found, rows - 1, 0);
            memcpy(from, PQgetvalue(found, rows - 1, 0), (size_t)length);
            from[length++] = 0;
        }
        PQclear(found);
    }
    if (count != expected) fail("the listing has another number of names");
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    open_database(argv[1], argv[2]);
    static unsigned char value[most];
    char action[8], key[32];
    memset(value, 7, sizeof(value));
    long first, second;
    while (scanf("%7s %ld %ld", action, &first, &second) == 3) {
        const int size = (int)(first < most ? first : most);
        const uint32_t sum = checksum(value, (size_t)size);
        const double start = nanoseconds();
        long count = second;
        if (strcmp(action, "fill") == 0) {
            count = first;
            parameters all = {0};
            add_place(&all);
            add(&all, value, (int)second);
            add_number(&all, checksum(value, (size_t)second));
            add_number(&all, first);
            PQclear(execute("fill", &all));
            run(in_schema("VACUUM ANALYZE $S.value", argv[2]));
            run("CHECKPOINT");
        } else if (strcmp(action, "get") == 0) {
            for (long i = 0; i < second; i++) {
                snprintf(key, sizeof(key), "key-%07ld", i * 7919 % first);
                get(key);
            }
        } else if (strcmp(action, "set") == 0) {
            for (long i = 0; i < second; i++) set("set", value, size, sum);
        } else if (strcmp(action, "batch") == 0) {
            for (long i = 0; i < second; i++) batch(value, size, sum);
        } else {
            count = first;
            list(first);
        }
        printf("%.1f\n", (nanoseconds() - start) / (double)count);
        fflush(stdout);
    }
    return 0;
}
