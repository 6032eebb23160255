/*
 * Carries changes from one device's database to another's, and does nothing else: sync folder DIR, or sync nats DIR URL
 *
 * Reads lines from standard input and answers each with a number.
 *
 *   single TIMES      changes, each when the one before has arrived; median nanoseconds from before the value is set to
 *                     after the other device has stored it durably
 *   slowest 0         the 99th percentile of all those
 *   stream COUNT      changes of so many keys, as fast as they can be set; nanoseconds of one, to the last one's arrival
 *   join COUNT        copies the records of so many keys from a file, opens them and stores them in an empty database;
 *                     nanoseconds of one. The file is made beforehand
 *   prove TIMES       signatures of one record, with Ed25519, each made and checked; nanoseconds of one
 *   check TIMES       signatures of 64 records, each checked with the tree of hashes that it covers; nanoseconds for one
 *                     record
 *
 * Three threads, as three programs have to be: an app sets a value durably. A publisher stores in its outbox, durably,
 * what it is about to publish; it seals the record, and appends it to a file that it synchronizes, or publishes it to a
 * stream of JetStream and waits for the acknowledgement. A reader, which inotify or a subscription wakes, opens it, and
 * stores the value with an entry and its position, durably. Publisher and reader take everything available at once. The
 * outbox is not part of the app's transaction, since values that any program stores are published.
 *
 * Sealing is ChaCha20-Poly1305 under a separate key for each record, by HKDF-SHA256 from a random salt. What the
 * program does not do: versions, conflicts, removals, acknowledgements, damaged files, lost messages, a second writer,
 * restarts.
 */
#include <nats/nats.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { value_size = 128, name_size = 32, salt_size = 32, tag_size = 16, entry_size = 200, most = 1 << 20 };
/* A record: name, salt, value, tag. */
enum { record_size = name_size + salt_size + value_size + tag_size };

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

static double nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* A connection to a device's database. */
typedef struct store {
    sqlite3 *database;
    sqlite3_stmt *writing, *begin, *commit;
} store;

static void run(sqlite3 *database, const char *text) {
    if (sqlite3_exec(database, text, NULL, NULL, NULL) != SQLITE_OK) fail(sqlite3_errmsg(database));
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        fail(sqlite3_errmsg(database));
    return statement;
}

static store open_store(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    store all;
    if (sqlite3_open_v2(path, &all.database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)
        != SQLITE_OK)
        fail(path);
    sqlite3_busy_timeout(all.database, 60000);
    run(all.database,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST;"
        "CREATE TABLE IF NOT EXISTS value (place INTEGER NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,"
        " modified INTEGER NOT NULL, size INTEGER NOT NULL, content_type TEXT, serializer TEXT, version_tag TEXT,"
        " app_version TEXT, owner TEXT, content BLOB, PRIMARY KEY (place, name)) STRICT, WITHOUT ROWID");
    all.writing = prepare(all.database,
        "INSERT OR REPLACE INTO value (place, name, version, modified, size, content_type, serializer, version_tag,"
        " app_version, owner, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
    all.begin = prepare(all.database, "BEGIN IMMEDIATE");
    all.commit = prepare(all.database, "COMMIT");
    return all;
}

static void step(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail("a statement");
    sqlite3_reset(statement);
}

static void set(store *all, int place, const char *name, const void *content, int size) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    sqlite3_int64 version;
    sqlite3_randomness(sizeof(version), &version);
    sqlite3_bind_int64(all->writing, 1, place);
    sqlite3_bind_text(all->writing, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(all->writing, 3, version);
    sqlite3_bind_int64(all->writing, 4, time.tv_sec * 1000000000 + time.tv_nsec);
    sqlite3_bind_int64(all->writing, 5, size);
    sqlite3_bind_text(all->writing, 6, "application/octet-stream", -1, SQLITE_STATIC);
    sqlite3_bind_text(all->writing, 7, "data", -1, SQLITE_STATIC);
    sqlite3_bind_text(all->writing, 10, "Benchmarks", -1, SQLITE_STATIC);
    sqlite3_bind_blob(all->writing, 11, content, size, SQLITE_STATIC);
    step(all->writing);
}

/* Derives a record's key and nonce, as one: HKDF-SHA256. */
static void derive(const unsigned char *salt, unsigned char *out) {
    static _Thread_local EVP_KDF_CTX *context;
    static unsigned char secret[32] = {1};
    if (context == NULL) {
        EVP_KDF *hkdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
        context = EVP_KDF_CTX_new(hkdf);
        EVP_KDF_free(hkdf);
    }
    OSSL_PARAM all[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret, sizeof(secret)),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, "record", 6), OSSL_PARAM_construct_end()};
    if (EVP_KDF_derive(context, out, 44, all) != 1) fail("HKDF");
}

static void run_cipher(int seals, const unsigned char *name, const unsigned char *salt, const unsigned char *in,
    unsigned char *out, unsigned char *tag) {
    static _Thread_local EVP_CIPHER_CTX *context;
    static _Thread_local EVP_CIPHER *cipher;
    if (context == NULL) context = EVP_CIPHER_CTX_new(), cipher = EVP_CIPHER_fetch(NULL, "ChaCha20-Poly1305", NULL);
    unsigned char keys[44];
    int count;
    derive(salt, keys);
    if (EVP_CipherInit_ex2(context, cipher, keys, keys + 32, seals, NULL) != 1
        || EVP_CipherUpdate(context, NULL, &count, name, name_size) != 1
        || EVP_CipherUpdate(context, out, &count, in, value_size) != 1)
        fail("the cipher");
    if (!seals && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_size, tag) != 1) fail("the tag");
    if (EVP_CipherFinal_ex(context, out + count, &count) != 1) fail("a record does not open");
    if (seals && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_size, tag) != 1) fail("the tag");
}

static void seal_record(const char *name, const unsigned char *value, unsigned char *record) {
    memset(record, 0, name_size);
    memcpy(record, name, strlen(name));
    unsigned char *salt = record + name_size, *content = salt + salt_size;
    RAND_bytes(salt, salt_size);
    run_cipher(1, record, salt, value, content, content + value_size);
}

/* The values that the app has set and the publisher has yet to publish, and those that have arrived. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_set = PTHREAD_COND_INITIALIZER, has_arrived = PTHREAD_COND_INITIALIZER;
static pthread_cond_t is_delivered = PTHREAD_COND_INITIALIZER;
static long set_count, published_count, arrived_count;
static unsigned char values[1 << 16][value_size];
static unsigned char *delivered;
static long delivered_count;

static const char *folder;
static jsCtx *stream;
static int shared = -1;

static void name_of(long number, char *name) { snprintf(name, name_size, "key-%07ld", number % (1 << 16)); }

static void publish(const unsigned char *records, long count) {
    if (stream == NULL) {
        const ssize_t size = (ssize_t)(count * record_size);
        if (write(shared, records, (size_t)size) != size || fdatasync(shared) != 0) fail("the shared file");
        return;
    }
    for (long i = 0; i < count; i++) {
        char subject[64];
        snprintf(subject, sizeof(subject), "raw.%s", (const char *)records + i * record_size);
        if (js_PublishAsync(stream, subject, records + i * record_size, record_size, NULL) != NATS_OK) fail("publish");
    }
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MaxWait = 60000;
    if (js_PublishAsyncComplete(stream, &options) != NATS_OK) fail("an acknowledgement");
}

static void *publisher(void *nothing) {
    (void)nothing;
    store outbox = open_store(folder, "a.sqlite");
    unsigned char *records = malloc((size_t)512 * record_size), entry[entry_size] = {2};
    for (;;) {
        pthread_mutex_lock(&lock);
        while (set_count == published_count) pthread_cond_wait(&is_set, &lock);
        const long first = published_count;
        long count = set_count - first;
        pthread_mutex_unlock(&lock);
        if (count > 512) count = 512;
        step(outbox.begin);
        for (long i = 0; i < count; i++) {
            char name[name_size];
            name_of(first + i, name);
            set(&outbox, 2, name, entry, sizeof(entry));
            seal_record(name, values[(first + i) & 0xffff], records + i * record_size);
        }
        step(outbox.commit);
        publish(records, count);
        pthread_mutex_lock(&lock);
        published_count += count;
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

static void store_records(store *all, const unsigned char *records, long count, long position) {
    unsigned char entry[entry_size] = {3}, value[value_size];
    step(all->begin);
    for (long i = 0; i < count; i++) {
        const unsigned char *record = records + i * record_size, *salt = record + name_size;
        run_cipher(0, record, salt, salt + salt_size, value, (unsigned char *)salt + salt_size + value_size);
        set(all, 1, (const char *)record, value, value_size);
        set(all, 2, (const char *)record, entry, entry_size);
    }
    char text[32];
    set(all, 2, "position", text, snprintf(text, sizeof(text), "%ld", position));
    step(all->commit);
}

static void arrive(long count) {
    pthread_mutex_lock(&lock);
    arrived_count += count;
    pthread_cond_broadcast(&has_arrived);
    pthread_mutex_unlock(&lock);
}

static void *folder_reader(void *nothing) {
    store all = open_store(folder, "b.sqlite");
    char path[4096], events[4096];
    snprintf(path, sizeof(path), "%s/shared", folder);
    const int watch = inotify_init1(IN_CLOEXEC), file = open(path, O_RDONLY | O_CLOEXEC);
    if (watch < 0 || file < 0 || inotify_add_watch(watch, path, IN_MODIFY) < 0) fail("inotify");
    unsigned char *records = malloc((size_t)512 * record_size);
    off_t position = 0;
    for (;;) {
        ssize_t size = pread(file, records, (size_t)512 * record_size, position);
        size -= size % record_size;
        if (size <= 0) {
            if (read(watch, events, sizeof(events)) < 0) fail("inotify");
            continue;
        }
        position += size;
        store_records(&all, records, size / record_size, (long)position);
        arrive(size / record_size);
    }
    return nothing;
}

static void deliver(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *nothing) {
    (void)connection, (void)subscription, (void)nothing;
    if (natsMsg_GetDataLength(message) == record_size) {
        pthread_mutex_lock(&lock);
        memcpy(delivered + delivered_count++ % 65536 * record_size, natsMsg_GetData(message), record_size);
        pthread_cond_signal(&is_delivered);
        pthread_mutex_unlock(&lock);
    }
    natsMsg_Destroy(message);
}

static void *stream_reader(void *nothing) {
    store all = open_store(folder, "b.sqlite");
    unsigned char *records = malloc((size_t)512 * record_size);
    for (long taken = 0;;) {
        pthread_mutex_lock(&lock);
        while (delivered_count == taken) pthread_cond_wait(&is_delivered, &lock);
        long count = 0;
        for (; count < 512 && taken < delivered_count; count++, taken++)
            memcpy(records + count * record_size, delivered + taken % 65536 * record_size, record_size);
        pthread_mutex_unlock(&lock);
        store_records(&all, records, count, taken);
        arrive(count);
    }
    return nothing;
}

static void connect_to(const char *url) {
    natsConnection *connection;
    jsStreamConfig config;
    jsSubOptions options;
    natsSubscription *subscription;
    jsErrCode code;
    const char *subjects[] = {"raw.>"};
    if (natsConnection_ConnectTo(&connection, url) != NATS_OK) fail(url);
    if (natsConnection_JetStream(&stream, connection, NULL) != NATS_OK) fail("JetStream");
    jsStreamConfig_Init(&config);
    config.Name = "RAW";
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.MaxMsgsPerSubject = 1;
    if (js_AddStream(NULL, stream, &config, NULL, &code) != NATS_OK) fail("the stream");
    jsSubOptions_Init(&options);
    options.Ordered = true;
    delivered = malloc((size_t)65536 * record_size);
    if (js_Subscribe(&subscription, stream, "raw.>", deliver, NULL, NULL, &options, &code) != NATS_OK) fail("subscribe");
}

static double times[most];
static long times_count;

static int order(const void *one, const void *other) {
    const double left = *(const double *)one, right = *(const double *)other;
    return left < right ? -1 : left > right;
}

static double percentile(double *all, long count, double part) {
    qsort(all, (size_t)count, sizeof(double), order);
    return count == 0 ? 0 : all[(long)((double)(count - 1) * part)];
}

static void change(store *app) {
    char name[name_size];
    const long number = set_count;
    name_of(number, name);
    memset(values[number & 0xffff], (int)number, value_size);
    step(app->begin);
    set(app, 1, name, values[number & 0xffff], value_size);
    step(app->commit);
    pthread_mutex_lock(&lock);
    set_count++;
    pthread_cond_signal(&is_set);
    pthread_mutex_unlock(&lock);
}

static void wait_for_arrival(void) {
    pthread_mutex_lock(&lock);
    while (arrived_count < set_count) pthread_cond_wait(&has_arrived, &lock);
    pthread_mutex_unlock(&lock);
}

static double join(long count) {
    char path[4096], copy[4096];
    snprintf(path, sizeof(path), "%s/records", folder);
    unsigned char *records = malloc((size_t)count * record_size), value[value_size] = {7};
    for (long i = 0; i < count; i++) {
        char name[name_size];
        snprintf(name, sizeof(name), "key-%07ld", i);
        seal_record(name, value, records + i * record_size);
    }
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(file, records, (size_t)count * record_size) != count * record_size || fsync(file) != 0) fail(path);
    memset(records, 0, (size_t)count * record_size);
    char name[64];
    static int number;
    snprintf(name, sizeof(name), "join-%d.sqlite", number++);
    const double start = nanoseconds();
    if (pread(file, records, (size_t)count * record_size, 0) != count * record_size) fail(path);
    snprintf(copy, sizeof(copy), "%s/copy", folder);
    const int target = open(copy, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(target, records, (size_t)count * record_size) != count * record_size || fsync(target) != 0) fail(copy);
    store all = open_store(folder, name);
    for (long i = 0; i < count; i += 1024)
        store_records(&all, records + i * record_size, count - i < 1024 ? count - i : 1024, i);
    const double end = nanoseconds();
    sqlite3_finalize(all.writing);
    sqlite3_finalize(all.begin);
    sqlite3_finalize(all.commit);
    sqlite3_close(all.database);
    close(file);
    close(target);
    free(records);
    return (end - start) / (double)count;
}

/* Signatures as records have them: made and checked, or checked with the tree of 64 records. */
static double sign(long times, int whole_tree) {
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    EVP_MD_CTX *signing = EVP_MD_CTX_new(), *checking = EVP_MD_CTX_new();
    unsigned char message[64] = {0}, signature[64], leaf[record_size] = {0}, digest[32];
    if (key == NULL || signing == NULL || checking == NULL) fail("no key");
    double passed = 0;
    for (long i = 0; i < times; i++) {
        size_t size = sizeof(signature);
        message[0]++;
        double start = nanoseconds();
        if (EVP_DigestSignInit(signing, NULL, NULL, NULL, key) != 1
            || EVP_DigestSign(signing, signature, &size, message, sizeof(message)) != 1) fail("signing");
        EVP_MD_CTX_reset(signing);
        if (whole_tree) start = nanoseconds();
        if (EVP_DigestVerifyInit(checking, NULL, NULL, NULL, key) != 1
            || EVP_DigestVerify(checking, signature, size, message, sizeof(message)) != 1) fail("checking");
        EVP_MD_CTX_reset(checking);
        for (int node = 0; whole_tree && node < 2 * 64 - 1; node++) {
            const size_t bytes = node < 64 ? sizeof(leaf) : 48;
            if (EVP_Q_digest(NULL, "SHA256", NULL, leaf, bytes, digest, NULL) != 1) fail("hashing");
        }
        passed += nanoseconds() - start;
    }
    EVP_MD_CTX_free(signing);
    EVP_MD_CTX_free(checking);
    EVP_PKEY_free(key);
    return passed / (double)times / (whole_tree ? 64 : 1);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    folder = argv[2];
    if (strcmp(argv[1], "nats") == 0) connect_to(argv[3]);
    char path[4096];
    snprintf(path, sizeof(path), "%s/shared", folder);
    shared = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    store app = open_store(folder, "a.sqlite");
    pthread_t thread;
    pthread_create(&thread, NULL, publisher, NULL);
    pthread_create(&thread, NULL, stream == NULL ? folder_reader : stream_reader, NULL);
    char action[8];
    long count;
    while (scanf("%7s %ld", action, &count) == 2) {
        double answer = 0;
        if (strcmp(action, "single") == 0) {
            const long first = times_count;
            for (long i = 0; i < count && times_count < most; i++) {
                const double start = nanoseconds();
                change(&app);
                wait_for_arrival();
                times[times_count++] = nanoseconds() - start;
            }
            double *some = malloc((size_t)count * sizeof(double));
            memcpy(some, times + first, (size_t)(times_count - first) * sizeof(double));
            answer = percentile(some, times_count - first, 0.5);
            free(some);
        } else if (strcmp(action, "slowest") == 0) {
            answer = percentile(times, times_count, 0.99);
        } else if (strcmp(action, "stream") == 0) {
            const double start = nanoseconds();
            for (long i = 0; i < count; i++) change(&app);
            wait_for_arrival();
            answer = (nanoseconds() - start) / (double)count;
        } else if (strcmp(action, "join") == 0) {
            answer = join(count);
        } else if (strcmp(action, "prove") == 0 || strcmp(action, "check") == 0) {
            answer = sign(count, action[0] == 'c');
        } else fail(action);
        printf("%.1f\n", answer);
        fflush(stdout);
    }
    return 0;
}
