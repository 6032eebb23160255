/*
 * A store, a crypto provider, a sync transport and a migration pack that each break one rule of the boundary. The option `mode` names the
 * rule, so one library serves all tests; a library whose file name begins with "libmode-" breaks a rule in its descriptor:
 *
 *     cc -std=c11 -shared -fPIC -pthread -I Sources/LocalDataAPI/CLocalData/include hostile.c -o libHostile.so
 *
 * "get:max" makes the function `get` give bytes with the count SIZE_MAX; see bad() for the other words.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <localdata/plugin.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT(literal) {literal, sizeof(literal) - 1}
#define BYTES(literal) ((ld_bytes)TEXT(literal))

typedef struct hostile {
    union {
        ld_store store;
        ld_crypto crypto;
        ld_sync sync;
        ld_migration_pack pack;
    } table;
    char mode[64];
    ld_sink sink;               /* kept from an earlier call */
    const ld_sink *sink_pointer;
    ld_error_sink error;
    ld_source source;
    ld_watcher watcher;
    int32_t (*take)(void *, const ld_sync_record *); /* with its context, kept from an earlier fetch */
    void *taker;
    ld_sync_subscriber subscriber;
    const ld_host *host;
} hostile;

/* ------------------------------------------------------------------ what is wrong with bytes ------------------- */

static bool begins(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

static bool is(const hostile *self, const char *mode) { return strcmp(self->mode, mode) == 0; }

/* One page of memory, with nothing after it. */
static const void *page(void) {
    size_t size = 64u << 20;
    char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return NULL;
    munmap(start + 4096, size - 4096);
    return start;
}

/* Whether the mode is "channel:..."; then `*bytes` are bytes that no host can accept. */
static bool bad(const hostile *self, const char *channel, ld_bytes *bytes) {
    size_t count = strlen(channel);
    if (strncmp(self->mode, channel, count) != 0 || self->mode[count] != ':') return false;
    const char *how = self->mode + count + 1;
    if (strcmp(how, "max") == 0) *bytes = (ld_bytes){"x", SIZE_MAX};
    else if (strcmp(how, "min") == 0) *bytes = (ld_bytes){"x", (size_t)1 << 63};
    else if (strcmp(how, "intmax") == 0) *bytes = (ld_bytes){"x", SIZE_MAX >> 1};
    else if (strcmp(how, "huge") == 0) *bytes = (ld_bytes){"x", (size_t)1 << 45};
    else if (strcmp(how, "null") == 0) *bytes = (ld_bytes){NULL, 5};
    else if (strcmp(how, "nullmax") == 0) *bytes = (ld_bytes){NULL, SIZE_MAX};
    else if (strcmp(how, "beyond") == 0) *bytes = (ld_bytes){page(), 32u << 20};
    else return false;
    return true;
}

static int32_t give(const ld_sink *sink, ld_bytes bytes) { return sink->write(sink->context, bytes); }

static ld_status report(const ld_error_sink *error, ld_error_code code, ld_bytes message, ld_bytes hint) {
    if (error != NULL) error->report(error->context, code, message, hint);
    return LD_FAILED;
}

/* Needs more stack than there is. */
static int deep(int depth) {
    volatile char room[1024];
    room[0] = (char)depth;
    return deep(depth + room[0]) + room[0];
}

/* Writes to a connection whose other end is gone. */
static void hang_up(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    close(ends[0]);
    if (write(ends[1], "x", 1) >= 0) abort();
    close(ends[1]);
}

/* Makes a process that ends by exit(3), in the middle of the call. */
static void fork_once(void) {
    pid_t child = fork();
    if (child == 0) exit(0);
    if (child > 0) waitpid(child, NULL, 0);
}

/* Wrong statuses and reports of any function: "function=status", "function=ok+report", "function=two",
 * "function=silent", "function=code-3" ... */
static bool answers(const hostile *self, const char *function, const ld_error_sink *error, ld_status *status) {
    size_t count = strlen(function);
    if (strncmp(self->mode, function, count) != 0 || self->mode[count] != '=') return false;
    const char *how = self->mode + count + 1;
    *status = LD_OK;
    if (strcmp(how, "ok+report") == 0) report(error, LD_ERROR_BUSY, BYTES("said"), BYTES(""));
    else if (strcmp(how, "absent+report") == 0) report(error, LD_ERROR_BUSY, BYTES("said"), BYTES("")), *status = LD_ABSENT;
    else if (strcmp(how, "two") == 0) {
        report(error, LD_ERROR_BUSY, BYTES("first"), BYTES(""));
        *status = report(error, LD_ERROR_CORRUPT, BYTES("second"), BYTES(""));
    } else if (begins(how, "code")) *status = report(error, (ld_error_code)strtol(how + 4, NULL, 10), BYTES("said"), BYTES(""));
    else if (strcmp(how, "silent") == 0) *status = LD_FAILED;
    else if (strcmp(how, "fault") == 0) *status = *(volatile int *)8;
    else if (strcmp(how, "exit") == 0) exit(0);
    else if (strcmp(how, "exit3") == 0) exit(3);
    else if (strcmp(how, "abort") == 0) abort();
    else if (strcmp(how, "trap") == 0) raise(SIGTRAP);
    else if (strcmp(how, "overflow") == 0) *status = deep(1);
    else if (strcmp(how, "hang") == 0) for (;;) pause();
    else if (strcmp(how, "print") == 0) puts("printed"), fflush(stdout);
    else if (strcmp(how, "sigpipe") == 0) hang_up();
    else if (strcmp(how, "fork") == 0) fork_once();
    else *status = atoi(how);
    return true;
}

/* "message:..." and "hint:...": a report with an unusable text. */
static bool complains(const hostile *self, const ld_error_sink *error, ld_status *status) {
    ld_bytes bytes;
    if (bad(self, "message", &bytes)) return *status = report(error, LD_ERROR_BUSY, bytes, BYTES("")), true;
    if (bad(self, "hint", &bytes)) return *status = report(error, LD_ERROR_BUSY, BYTES("said"), bytes), true;
    return false;
}

/* ------------------------------------------------------------------ store -------------------------------------- */

static ld_status resolve(void *context, const ld_address *address, void **handle, const ld_error_sink *error) {
    (void)address;
    ld_status status;
    if (answers(context, "resolve", error, &status)) return status;
    *handle = context;
    return LD_OK;
}

static void release(void *context, void *handle) { (void)context, (void)handle; }

static void *from_elsewhere(void *context) {
    hostile *self = context;
    give(&self->sink, BYTES("from another thread"));
    report(&self->error, LD_ERROR_BUSY, BYTES("from another thread"), BYTES(""));
    return NULL;
}

static ld_status get(void *context, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    (void)handle;
    hostile *self = context;
    ld_bytes bytes;
    ld_status status;
    if (answers(self, "get", error, &status) || complains(self, error, &status)) return status;
    if (bad(self, "get", &bytes)) return give(sink, bytes), LD_OK;
    if (is(self, "get-bad-then-good")) return give(sink, (ld_bytes){NULL, 5}), give(sink, BYTES("value")), LD_OK;
    if (is(self, "get-twice")) return give(sink, BYTES("first")), give(sink, BYTES("second")), LD_OK;
    if (is(self, "get-nothing")) return LD_OK;
    if (is(self, "get-absent-written")) return give(sink, BYTES("value")), LD_ABSENT;
    if (is(self, "get-foreign")) return sink->write(self, BYTES("value")), LD_OK;
    if (is(self, "get-null-context")) return sink->write(NULL, BYTES("value")), LD_OK;
    if (is(self, "get-all-ones")) return sink->write((void *)UINTPTR_MAX, BYTES("value")), LD_OK;
    if (is(self, "get-thread")) {
        pthread_t thread;
        self->sink = *sink, self->error = *error;
        if (pthread_create(&thread, NULL, from_elsewhere, self) == 0) pthread_join(thread, NULL);
        return give(sink, BYTES("value")), LD_OK;
    }
    if (is(self, "get-late")) {
        if (self->sink.write != NULL) give(&self->sink, BYTES("late")), report(&self->error, 1, BYTES("late"), BYTES(""));
        self->sink = *sink, self->error = *error;
    }
    if (is(self, "get-later") || is(self, "get-pointer")) {
        self->sink = *sink, self->error = *error, self->sink_pointer = sink;
    }
    return give(sink, BYTES("value")) == 0 ? LD_OK : LD_STOPPED;
}

static ld_status exists(void *context, void *handle, const ld_error_sink *error) {
    (void)handle;
    hostile *self = context;
    ld_status status;
    if (answers(self, "exists", error, &status) || complains(self, error, &status)) return status;
    /* Uses the sinks of a get that has returned. */
    if (is(self, "get-later")) give(&self->sink, BYTES("late")), report(&self->error, 1, BYTES("late"), BYTES(""));
    if (is(self, "get-pointer")) give(self->sink_pointer, BYTES("late"));
    return LD_OK;
}

static ld_status set(
    void *context, void *handle, ld_bytes value, const ld_attributes *attributes, const ld_error_sink *error) {
    (void)handle, (void)value, (void)attributes;
    ld_status status;
    return answers(context, "set", error, &status) || complains(context, error, &status) ? status : LD_OK;
}

static ld_status remove_value(void *context, void *handle, const ld_error_sink *error) {
    (void)handle;
    ld_status status;
    return answers(context, "remove", error, &status) ? status : LD_OK;
}

/* names, places */
static ld_status names(
    void *context, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t limit, const ld_sink *sink,
    const ld_error_sink *error) {
    (void)place, (void)prefix, (void)after, (void)limit;
    hostile *self = context;
    ld_bytes bytes;
    ld_status status;
    static char longest[1025];
    memset(longest, 'p', sizeof longest);
    if (answers(self, "names", error, &status) || complains(self, error, &status)) return status;
    if (give(sink, BYTES("p1")) != 0) return LD_STOPPED;
    if (bad(self, "names", &bytes)) give(sink, bytes);
    if (is(self, "names-order")) give(sink, BYTES("p0"));
    if (is(self, "names-repeat")) give(sink, BYTES("p1"));
    if (is(self, "names-shorter")) give(sink, BYTES("p"));
    if (is(self, "names-prefix")) give(sink, BYTES("q"));
    if (is(self, "names-nul")) give(sink, BYTES("p2\0x"));
    if (is(self, "names-empty")) give(sink, (ld_bytes){NULL, 0});
    if (is(self, "names-utf8")) give(sink, BYTES("p2\xff"));
    if (is(self, "names-surrogate")) give(sink, BYTES("p2\xed\xa0\x80"));
    if (is(self, "names-long")) give(sink, (ld_bytes){longest, sizeof longest});
    if (is(self, "names-limit")) give(sink, BYTES("p2")), give(sink, BYTES("p3")), give(sink, BYTES("p4"));
    if (is(self, "names-deaf")) {
        for (int i = 0; i < 100; i++) give(sink, BYTES("p2"));
        return LD_OK;
    }
    return LD_OK;
}

static ld_status places(void *context, const ld_sink *sink, const ld_error_sink *error) {
    hostile *self = context;
    ld_bytes bytes;
    ld_status status;
    static char longest[1100] = "userDefaults";
    memset(longest + 13, 's', sizeof longest - 13);
    if (answers(self, "places", error, &status)) return status;
    if (bad(self, "places", &bytes)) give(sink, bytes);
    if (is(self, "places-utf8")) give(sink, BYTES("userDefaults\0\xff"));
    if (is(self, "places-empty")) give(sink, (ld_bytes){NULL, 0});
    if (is(self, "places-domain")) give(sink, BYTES("../etc\0x"));
    if (is(self, "places-nul")) give(sink, BYTES("userDefaults\0a\0b"));
    if (is(self, "places-long")) give(sink, (ld_bytes){longest, sizeof longest});
    if (is(self, "places-repeat")) give(sink, BYTES("userDefaults\0a")), give(sink, BYTES("userDefaults\0a"));
    return LD_OK;
}

static const ld_store_enumeration enumeration = {sizeof(enumeration), names, places};

/* attributes */
static bool spoil(const hostile *self, ld_attributes *attributes) {
    static char text[(64 << 10) + 1];
    ld_bytes bytes;
    if (bad(self, "attr-type", &bytes)) return attributes->content_type = bytes, true;
    if (bad(self, "attr-tag", &bytes)) return attributes->version_tag = bytes, true;
    if (bad(self, "attr-owner", &bytes)) return attributes->owner = bytes, true;
    if (is(self, "attr-long")) return attributes->owner = (ld_bytes){text, sizeof text}, true;
    if (is(self, "attr-size")) return attributes->value_size = UINT64_MAX, true;
    if (is(self, "attr-struct-small")) return attributes->size = 2, true;
    if (is(self, "attr-struct-large")) return attributes->size = UINT32_MAX, true;
    return false;
}

static ld_status attributes(
    void *context, void *handle, void *taker, void (*take)(void *, const ld_attributes *), const ld_error_sink *error) {
    (void)handle;
    hostile *self = context;
    ld_status status;
    ld_attributes kept = {.size = sizeof kept, .content_type = TEXT("text/plain"), .value_size = 5};
    if (answers(self, "attributes", error, &status)) return status;
    spoil(self, &kept);
    if (is(self, "attr-null")) return take(taker, NULL), LD_OK;
    if (is(self, "attr-nothing")) return LD_OK;
    if (is(self, "attr-twice")) take(taker, &kept);
    take(taker, &kept);
    return is(self, "attr-absent") ? LD_ABSENT : LD_OK;
}

static const ld_store_attributes attributing = {sizeof(attributing), attributes};

/* tags */
/* conditions, expiry and locks */
static ld_status get_revision(
    void *context, void *handle, void *taker, void (*take)(void *, uint64_t, const ld_attributes *, ld_bytes),
    const ld_error_sink *error) {
    (void)handle;
    hostile *self = context;
    ld_status status;
    ld_bytes value = BYTES("value");
    ld_attributes kept = {.size = sizeof kept, .version_tag = TEXT("3"), .value_size = 5};
    const ld_attributes *attributes = is(self, "cond-get-none") ? NULL : &kept;
    if (answers(self, "cond-get", error, &status)) return status;
    spoil(self, &kept);
    bad(self, "cond-value", &value);
    if (is(self, "cond-get-nothing")) return LD_OK;
    if (is(self, "cond-get-twice")) take(taker, 7, attributes, value);
    take(taker, is(self, "cond-get-zero") ? 0 : 7, attributes, value);
    return is(self, "cond-get-absent") ? LD_ABSENT : LD_OK;
}

static ld_status set_if(
    void *context, void *handle, ld_bytes value, const ld_attributes *attributes, uint32_t condition, uint64_t *revision,
    const ld_error_sink *error) {
    (void)handle, (void)value, (void)attributes, (void)condition;
    hostile *self = context;
    ld_status status;
    if (answers(self, "cond-set", error, &status)) return status;
    if (is(self, "cond-set-zero")) return *revision = 0, LD_OK;
    if (!is(self, "cond-set-same")) *revision += 1;
    return LD_OK;
}

static ld_status remove_if(void *context, void *handle, uint64_t revision, const ld_error_sink *error) {
    (void)handle, (void)revision;
    ld_status status;
    return answers(context, "cond-remove", error, &status) ? status : LD_OK;
}

static const ld_store_conditional conditional = {sizeof(conditional), get_revision, set_if, remove_if};

static ld_status discard(void *context, void *handle, const ld_error_sink *error) {
    (void)handle;
    ld_status status;
    return answers(context, "discard", error, &status) ? status : LD_OK;
}

static ld_status sweep(
    void *context, const ld_namespace *place, uint64_t limit, uint64_t *removed, const ld_error_sink *error) {
    (void)place;
    hostile *self = context;
    ld_status status;
    if (answers(self, "sweep", error, &status)) return status;
    *removed = is(self, "sweep-many") ? limit + 1 : is(self, "sweep-max") ? UINT64_MAX : 0;
    return LD_OK;
}

static ld_status expired(void *context, const ld_namespace *place, const ld_sink *sink, const ld_error_sink *error) {
    (void)place;
    hostile *self = context;
    ld_status status;
    ld_bytes name = BYTES("name");
    if (answers(self, "expired", error, &status)) return status;
    bad(self, "expired", &name);
    if (is(self, "expired-utf8")) name = BYTES("\xff");
    if (is(self, "expired-empty")) name = BYTES("");
    if (is(self, "expired-nul")) name = BYTES("a\0b");
    return give(sink, name) == 0 ? LD_OK : LD_STOPPED;
}

static const ld_store_expiry expiry = {sizeof(expiry), discard, sweep, expired};

static ld_status take_lock(
    void *context, const ld_namespace *place, ld_bytes name, uint64_t wait, void **lock, const ld_error_sink *error) {
    (void)place, (void)name, (void)wait, (void)lock;
    ld_status status;
    return answers(context, "lock", error, &status) ? status : LD_OK;
}

static ld_status is_held(void *context, void *lock, const ld_error_sink *error) {
    (void)lock;
    ld_status status;
    return answers(context, "held", error, &status) ? status : LD_OK;
}

static void unlock(void *context, void *lock) { (void)context, (void)lock; }

static const ld_store_lock locking = {sizeof(locking), take_lock, is_held, unlock};

/* streams */
static ld_status read_pieces(void *context, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    (void)handle;
    hostile *self = context;
    ld_bytes bytes;
    ld_status status;
    if (answers(self, "read", error, &status)) return status;
    if (give(sink, BYTES("one")) != 0) return LD_STOPPED;
    if (bad(self, "read", &bytes)) return give(sink, bytes), LD_OK;
    if (is(self, "read-absent")) return LD_ABSENT;
    if (is(self, "read-late")) self->sink = *sink;
    return give(sink, BYTES("two")) == 0 ? LD_OK : LD_STOPPED;
}

static ld_status write_pieces(
    void *context, void *handle, const ld_source *source, const ld_attributes *attributes, const ld_error_sink *error) {
    (void)handle, (void)attributes;
    hostile *self = context;
    ld_status status;
    static char buffer[1 << 20];
    int64_t count;
    if (answers(self, "write", error, &status)) return status;
    if (is(self, "write-noread")) return LD_OK;
    if (is(self, "write-partial")) return source->read(source->context, buffer, 2), LD_OK;
    if (is(self, "write-zero")) return source->read(source->context, buffer, 0), LD_OK;
    if (is(self, "write-null")) return source->read(source->context, NULL, 100), LD_OK;
    if (is(self, "write-max")) return source->read(source->context, buffer, SIZE_MAX), LD_OK;
    if (is(self, "write-min")) return source->read(source->context, buffer, (size_t)1 << 63), LD_OK;
    if (is(self, "write-foreign")) return source->read(self, buffer, sizeof buffer), LD_OK;
    if (is(self, "write-ignores")) {
        for (int i = 0; i < 4; i++) source->read(source->context, buffer, sizeof buffer);
        return LD_OK;
    }
    if (is(self, "write-late")) {
        if (self->source.read != NULL) self->source.read(self->source.context, buffer, sizeof buffer);
        self->source = *source;
    }
    while ((count = source->read(source->context, buffer, is(self, "write-huge") ? SIZE_MAX >> 1 : sizeof buffer)) > 0) {
    }
    if (is(self, "write-again") && count == 0) count = source->read(source->context, buffer, sizeof buffer);
    return count == 0 ? LD_OK : LD_STOPPED;
}

static const ld_store_streaming streaming = {sizeof(streaming), read_pieces, write_pieces};

/* batches, transactions, checks, watches */
static ld_status apply_batch(
    void *context, const ld_operation *const *operations, size_t count, const ld_error_sink *error) {
    (void)operations, (void)count;
    ld_status status;
    return answers(context, "batch", error, &status) ? status : LD_OK;
}

static const ld_store_batch batch = {sizeof(batch), apply_batch};

static ld_status begin(void *context, void **transaction, const ld_error_sink *error) {
    ld_status status;
    *transaction = context;
    return answers(context, "begin", error, &status) ? status : LD_OK;
}

static ld_status get_inside(
    void *context, void *transaction, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    (void)transaction, (void)handle;
    hostile *self = context;
    ld_bytes bytes;
    ld_status status;
    if (answers(self, "tx-get", error, &status)) return status;
    if (bad(self, "tx-get", &bytes)) return give(sink, bytes), LD_OK;
    if (is(self, "tx-get-twice")) give(sink, BYTES("first"));
    return give(sink, BYTES("value")), LD_OK;
}

static ld_status set_inside(
    void *context, void *transaction, void *handle, ld_bytes value, const ld_attributes *attributes,
    const ld_error_sink *error) {
    (void)transaction, (void)handle, (void)value, (void)attributes;
    ld_status status;
    return answers(context, "tx-set", error, &status) ? status : LD_OK;
}

static ld_status remove_inside(void *context, void *transaction, void *handle, const ld_error_sink *error) {
    (void)transaction, (void)handle;
    ld_status status;
    return answers(context, "tx-remove", error, &status) ? status : LD_OK;
}

static ld_status commit(void *context, void *transaction, const ld_error_sink *error) {
    (void)transaction;
    ld_status status;
    return answers(context, "commit", error, &status) ? status : LD_OK;
}

static void rollback(void *context, void *transaction) { (void)context, (void)transaction; }

static const ld_store_transactions transactions = {
    sizeof(transactions), begin, get_inside, set_inside, remove_inside, commit, rollback};

static ld_status check(void *context, const ld_sink *sink, const ld_error_sink *error) {
    ld_bytes bytes;
    ld_status status;
    if (answers(context, "check", error, &status)) return status;
    if (bad(context, "check", &bytes)) give(sink, bytes);
    return LD_OK;
}

static const ld_store_check checking = {sizeof(checking), check};

static ld_status watch(
    void *context, const ld_namespace *place, ld_bytes prefix, const ld_watcher *watcher, void **token,
    const ld_error_sink *error) {
    (void)place, (void)prefix;
    hostile *self = context;
    ld_bytes bytes;
    ld_status status;
    if (answers(self, "watch", error, &status)) return status;
    self->watcher = *watcher;
    *token = self;
    if (bad(self, "watch", &bytes)) watcher->changed(watcher->context, bytes);
    return LD_OK;
}

static void unwatch(void *context, void *token) {
    (void)token;
    hostile *self = context;
    if (is(self, "watch-foreign")) self->watcher.changed(self, BYTES("name"));
}

static const ld_store_watch watching = {sizeof(watching), watch, unwatch};

/* bulk reads and changes */
/* A struct with later members, larger than any that this host knows. */
struct later {
    uint32_t size;
    uint64_t members[32];
};

static ld_status read_many(
    void *context, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t largest, void *taker,
    int32_t (*take)(void *, const ld_bulk_value *), const ld_error_sink *error) {
    (void)place, (void)prefix, (void)after, (void)largest;
    hostile *self = context;
    ld_bytes bytes;
    ld_status status;
    if (answers(self, "bulk-read", error, &status)) return status;
    ld_attributes kept = {.size = sizeof kept, .value_size = 5};
    ld_bulk_value value = {.size = sizeof value, .name = TEXT("p1"), .value = TEXT("value"), .mark = 1};
    if (take(taker, &value) != 0) return LD_STOPPED;
    value.name = BYTES("p2");
    if (spoil(self, &kept)) value.attributes = &kept;
    if (bad(self, "bulk-name", &bytes)) value.name = bytes;
    if (bad(self, "bulk-value", &bytes)) value.value = bytes;
    if (is(self, "bulk-null")) return take(taker, NULL), LD_OK;
    if (is(self, "bulk-small")) value.size = 8;
    if (is(self, "bulk-uneven")) value.size += 4;
    if (is(self, "bulk-newer")) {
        struct later later = {.size = sizeof later};
        memcpy((char *)&later + sizeof later.size, (char *)&value + sizeof value.size, sizeof value - sizeof value.size);
        return take(taker, (const ld_bulk_value *)&later) == 0 ? LD_OK : LD_STOPPED;
    }
    if (is(self, "bulk-mark")) value.mark = 0;
    if (is(self, "bulk-larger")) value.value = BYTES("more than the eight bytes that were asked for");
    if (is(self, "bulk-order")) value.name = BYTES("p0");
    if (is(self, "bulk-repeat")) value.name = BYTES("p1");
    if (is(self, "bulk-prefix")) value.name = BYTES("q");
    if (is(self, "bulk-empty")) value.name = BYTES("");
    if (is(self, "bulk-nul")) value.name = BYTES("p2\0x");
    if (is(self, "bulk-utf8")) value.name = BYTES("p2\xff");
    if (is(self, "bulk-foreign")) return take(self, &value), LD_OK;
    return take(taker, &value) == 0 ? LD_OK : LD_STOPPED;
}

static ld_status apply_many(
    void *context, const ld_bulk_change *const *changes, size_t count, void *teller,
    void (*conflict)(void *, size_t), const ld_error_sink *error) {
    (void)changes;
    hostile *self = context;
    ld_status status;
    if (answers(self, "bulk-apply", error, &status)) return status;
    if (is(self, "conflict-max")) conflict(teller, SIZE_MAX);
    if (is(self, "conflict-count")) conflict(teller, count);
    if (is(self, "conflict-many")) for (int i = 0; i < 1000; i++) conflict(teller, 0);
    if (is(self, "conflict-foreign")) conflict(self, 0);
    if (is(self, "conflict-ok")) return conflict(teller, 0), LD_OK;
    if (begins(self->mode, "conflict-")) return report(error, LD_ERROR_BUSY, BYTES("conflict"), BYTES(""));
    return LD_OK;
}

static const ld_store_bulk bulk = {sizeof(bulk), read_many, apply_many};

static const void *store_extension(void *context, ld_bytes id) {
    hostile *self = context;
    static const struct {
        const char *id;
        const void *table;
    } all[] = {
        {LD_STORE_ENUMERATION, &enumeration}, {LD_STORE_ATTRIBUTES, &attributing}, {LD_STORE_STREAMING, &streaming},
        {LD_STORE_BATCH, &batch}, {LD_STORE_TRANSACTIONS, &transactions}, {LD_STORE_CHECK, &checking},
        {LD_STORE_WATCH, &watching}, {LD_STORE_BULK, &bulk},
        {LD_STORE_CONDITIONAL, &conditional}, {LD_STORE_EXPIRY, &expiry}, {LD_STORE_LOCK, &locking},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (id.count != strlen(all[i].id) || memcmp(id.data, all[i].id, id.count) != 0) continue;
        /* An odd address, which no table has. */
        return is(self, "extension-odd") ? (const char *)all[i].table + 1 : all[i].table;
    }
    return NULL;
}

static void close_store(void *context) {
    hostile *self = context;
    if (is(self, "watch-late")) self->watcher.changed(self->watcher.context, BYTES("late"));
    if (is(self, "close-late")) give(&self->sink, BYTES("late"));
}

/* ------------------------------------------------------------------ crypto ------------------------------------- */

static ld_status seal(
    void *context, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes plaintext,
    void *ciphertext, void *tag, const ld_error_sink *error) {
    (void)algorithm, (void)key, (void)nonce, (void)data, (void)plaintext, (void)ciphertext, (void)tag;
    ld_status status;
    return answers(context, "seal", error, &status) || complains(context, error, &status) ? status : LD_OK;
}

static ld_status open_sealed(
    void *context, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext,
    ld_bytes tag, void *plaintext, const ld_error_sink *error) {
    (void)algorithm, (void)key, (void)nonce, (void)data, (void)ciphertext, (void)tag, (void)plaintext;
    ld_status status;
    return answers(context, "open-sealed", error, &status) ? status : LD_OK;
}

static ld_status derive(
    void *context, ld_algorithm_id algorithm, const ld_derivation *parameters, void *output, size_t count,
    const ld_error_sink *error) {
    (void)algorithm, (void)parameters, (void)output, (void)count;
    ld_status status;
    return answers(context, "derive", error, &status) ? status : LD_OK;
}

static ld_status random_bytes(void *context, void *output, size_t count, const ld_error_sink *error) {
    (void)output, (void)count;
    ld_status status;
    return answers(context, "random", error, &status) ? status : LD_OK;
}

static ld_status signing_public_key(
    void *context, ld_algorithm_id algorithm, ld_bytes private_key, void *public_key, const ld_error_sink *error) {
    (void)algorithm, (void)private_key, (void)public_key;
    ld_status status;
    return answers(context, "public-key", error, &status) ? status : LD_OK;
}

static ld_status sign(
    void *context, ld_algorithm_id algorithm, ld_bytes private_key, ld_bytes message, void *signature,
    const ld_error_sink *error) {
    (void)algorithm, (void)private_key, (void)message, (void)signature;
    ld_status status;
    return answers(context, "sign", error, &status) ? status : LD_OK;
}

static ld_status verify(
    void *context, ld_algorithm_id algorithm, ld_bytes public_key, ld_bytes message, ld_bytes signature,
    const ld_error_sink *error) {
    (void)algorithm, (void)public_key, (void)message, (void)signature;
    ld_status status;
    return answers(context, "verify", error, &status) ? status : LD_OK;
}

static const ld_crypto_signatures signatures = {sizeof(signatures), signing_public_key, sign, verify};

static bool is_id(ld_bytes id, const char *name) {
    return id.count == strlen(name) && memcmp(id.data, name, id.count) == 0;
}

static const void *crypto_extension(void *context, ld_bytes id) {
    return is_id(id, LD_CRYPTO_SIGNATURES) && !is(context, "no-signatures") ? &signatures : NULL;
}

static const ld_algorithm cipher = {sizeof(cipher), LD_AES_256_GCM, 32, 12, 16, 0, (uint64_t)1 << 36};
static const ld_algorithm odd_cipher = {sizeof(odd_cipher), LD_AES_256_GCM, 16, 12, 16, 0, 0};
static const ld_algorithm derivation = {sizeof(derivation), LD_HKDF_SHA256, 0, 0, 0, 0, 8160};
static const ld_algorithm agreement = {sizeof(agreement), LD_X25519, 32, 0, 0, 0, 0};
static const ld_algorithm signature = {sizeof(signature), LD_ED25519, 32, 0, 0, 0, 0};
static const ld_algorithm *const algorithms[] = {&cipher, &derivation, &signature};
static const ld_algorithm *const twice[] = {&cipher, &cipher, &derivation};
static const ld_algorithm *const odd[] = {&odd_cipher, &derivation, &signature};
static const ld_algorithm *const null[] = {NULL, NULL, NULL};
static const ld_algorithm *const lonely[] = {&cipher, &agreement, &derivation};

/* ------------------------------------------------------------------ sync --------------------------------------- */

static ld_status publish(
    void *context, const ld_sync_record *const *records, size_t count, const ld_error_sink *error) {
    (void)records, (void)count;
    ld_status status;
    return answers(context, "publish", error, &status) || complains(context, error, &status) ? status : LD_OK;
}

static ld_status remove_records(
    void *context, ld_bytes writer, const ld_bytes *names, size_t count, const ld_error_sink *error) {
    (void)writer, (void)names, (void)count;
    ld_status status;
    return answers(context, "unpublish", error, &status) ? status : LD_OK;
}

static const ld_sync_record good = {
    .size = sizeof good, .writer = TEXT("writer"), .name = TEXT("name"), .content = TEXT("content")};

static void *take_elsewhere(void *context) {
    hostile *self = context;
    self->take(self->taker, &good);
    give(&self->sink, BYTES("from another thread"));
    return NULL;
}

/* "record-...": a record that no host can accept. */
static void pass_bad(const hostile *self, void *taker, int32_t (*take)(void *, const ld_sync_record *)) {
    static char longest[300000];
    memset(longest, 'x', sizeof longest);
    ld_sync_record record = good;
    if (bad(self, "record-writer", &record.writer) || bad(self, "record-name", &record.name)
        || bad(self, "record-content", &record.content)) {
        take(taker, &record);
    }
    if (is(self, "record-null")) take(taker, NULL);
    if (is(self, "record-odd")) take(taker, (const void *)((const char *)&good + 1));
    if (is(self, "record-small")) record.size = 8, take(taker, &record);
    if (is(self, "record-uneven")) record.size += 4, take(taker, &record);
    if (is(self, "record-newer")) {
        struct later later = {.size = sizeof later};
        memcpy((char *)&later + sizeof later.size, (char *)&good + sizeof good.size, sizeof good - sizeof good.size);
        take(taker, (const ld_sync_record *)&later);
    }
    if (is(self, "record-case")) record.writer = BYTES("Writer"), take(taker, &record);
    if (is(self, "record-path")) record.name = BYTES("../name"), take(taker, &record);
    if (is(self, "record-utf8")) record.name = BYTES("a\xff"), take(taker, &record);
    if (is(self, "record-nul")) record.name = BYTES("a\0b"), take(taker, &record);
    if (is(self, "record-empty")) record.writer = BYTES(""), take(taker, &record);
    if (is(self, "record-long")) record.name = (ld_bytes){longest, 65}, take(taker, &record);
    if (is(self, "record-large")) record.content = (ld_bytes){longest, sizeof longest}, take(taker, &record);
}

static ld_status fetch(
    void *context, ld_bytes since, void *taker, int32_t (*take)(void *, const ld_sync_record *), const ld_sink *position,
    const ld_error_sink *error) {
    (void)since;
    hostile *self = context;
    ld_bytes reached = BYTES("1");
    ld_status status;
    static char longest[4097];
    if (answers(self, "fetch", error, &status) || complains(self, error, &status)) return status;
    if (is(self, "fetch-late") && self->take != NULL) self->take(self->taker, &good), give(&self->sink, reached);
    self->take = take, self->taker = taker, self->sink = *position;
    bool is_asked_to_stop = take(taker, &good) != 0;
    if (is(self, "fetch-deaf")) for (int i = 0; i < 100; i++) take(taker, &good);
    if (is(self, "fetch-stopped") && is_asked_to_stop) return LD_STOPPED;
    pass_bad(self, taker, take);
    if (is(self, "fetch-foreign")) take(self, &good);
    if (is(self, "fetch-thread")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, take_elsewhere, self) == 0) pthread_join(thread, NULL);
    }
    bad(self, "position", &reached);
    if (is(self, "position-nothing")) return LD_OK;
    if (is(self, "position-empty")) reached.count = 0;
    if (is(self, "position-long")) reached = (ld_bytes){longest, sizeof longest};
    if (is(self, "position-twice")) give(position, reached);
    if (is(self, "position-failed")) {
        give(position, reached);
        return report(error, LD_ERROR_POSITION_LOST, BYTES("lost"), BYTES(""));
    }
    give(position, reached);
    if (is(self, "position-first")) take(taker, &good);
    return LD_OK;
}

static ld_status subscribe(
    void *context, const ld_sync_subscriber *subscriber, void **token, const ld_error_sink *error) {
    hostile *self = context;
    ld_status status;
    self->subscriber = *subscriber;
    *token = self;
    if (answers(self, "subscribe", error, &status)) return subscriber->notify(subscriber->context, 0), status;
    if (is(self, "notice-unknown")) subscriber->notify(subscriber->context, 77);
    if (is(self, "notice-negative")) subscriber->notify(subscriber->context, INT32_MIN);
    return LD_OK;
}

static void unsubscribe(void *context, void *token) {
    (void)token;
    hostile *self = context;
    if (is(self, "notice-foreign")) self->subscriber.notify(self, LD_SYNC_CHANGED);
}

static void cancel_calls(void *context) { (void)context; }

static void close_sync(void *context) {
    hostile *self = context;
    if (is(self, "notice-late") && self->subscriber.notify != NULL) {
        self->subscriber.notify(self->subscriber.context, LD_SYNC_CHANGED);
    }
}

/* ------------------------------------------------------------------ pack --------------------------------------- */

#define LIST                                                                                                           \
    "[{\"id\":\"move\",\"destination\":{\"address\":\"userDefaults/new\"}},"                                              \
    "{\"id\":\"shout\",\"bulk\":{\"source\":{\"domain\":\"userDefaults:low\"},"                                           \
    "\"destination\":{\"domain\":\"userDefaults:high\"},\"converts\":true}}]"

static ld_status should_migrate(
    void *context, size_t migration, const ld_migration_transaction *transaction, ld_bytes json,
    const ld_error_sink *error) {
    (void)migration, (void)transaction, (void)json;
    ld_status status;
    return answers(context, "should", error, &status) || complains(context, error, &status) ? status : LD_OK;
}

/* If the host refuses a key or a value as unusable, the pack fails with that. */
static ld_status migrate(
    void *context, size_t migration, const ld_migration_transaction *transaction, ld_bytes json, const ld_sink *result,
    const ld_error_sink *error) {
    (void)migration, (void)json;
    hostile *self = context;
    ld_bytes bytes;
    ld_status status;
    ld_migration_key key = {.size = sizeof key, .address = TEXT("userDefaults/new")};
    if (answers(self, "migrate", error, &status) || complains(self, error, &status)) return status;
    if (bad(self, "result", &bytes)) return give(result, bytes), LD_OK;
    if (is(self, "result-nothing")) return LD_OK;
    if (is(self, "result-twice")) give(result, BYTES("{\"success\":true}"));
    if (is(self, "result-text")) return give(result, BYTES("done")), LD_OK;
    if (is(self, "result-count")) return give(result, BYTES("{\"success\":true,\"migratedCount\":-1}")), LD_OK;
    if (bad(self, "key", &key.address) || bad(self, "key-serializer", &key.serializer)
        || bad(self, "key-security", &key.security)) {
        return transaction->exists(transaction->context, &key, error);
    }
    if (bad(self, "key-value", &bytes)) return transaction->set(transaction->context, &key, bytes, error);
    if (is(self, "key-null")) return transaction->exists(transaction->context, NULL, error);
    if (is(self, "key-small")) return key.size = 8, transaction->remove(transaction->context, &key, error);
    if (is(self, "key-uneven")) return key.size += 4, transaction->remove(transaction->context, &key, error);
    if (is(self, "key-newer")) {
        struct later later = {.size = sizeof later};
        memcpy((char *)&later + sizeof later.size, (char *)&key + sizeof key.size, sizeof key - sizeof key.size);
        if (transaction->exists(transaction->context, (const ld_migration_key *)&later, error) == LD_FAILED) return LD_FAILED;
    }
    if (is(self, "key-sink-null")) return transaction->get(transaction->context, &key, NULL, error);
    if (is(self, "key-sink-small")) {
        ld_sink sink = {.size = 8};
        return transaction->get(transaction->context, &key, &sink, error);
    }
    if (is(self, "key-context")) return transaction->exists(self, &key, error);
    return give(result, BYTES("{\"success\":true}")), LD_OK;
}

static ld_status validate(void *context, size_t migration, const ld_error_sink *error) {
    (void)migration;
    ld_status status;
    return answers(context, "validate", error, &status) ? status : LD_OK;
}

static ld_status convert(
    void *context, size_t migration, ld_bytes name, ld_bytes value, const ld_sink *sink, const ld_error_sink *error) {
    (void)migration, (void)name, (void)value;
    hostile *self = context;
    ld_bytes bytes;
    ld_status status;
    if (answers(self, "convert", error, &status)) return status;
    if (bad(self, "convert", &bytes)) return give(sink, bytes), LD_OK;
    if (is(self, "convert-twice")) give(sink, BYTES("first"));
    if (is(self, "convert-nothing")) return LD_OK;
    return give(sink, BYTES("NEW")), LD_OK;
}

/* ------------------------------------------------------------------ opening ------------------------------------ */

static void talk(const hostile *self) {
    ld_bytes bytes;
    if (bad(self, "extension-id", &bytes)) (void)self->host->extension(self->host->context, bytes);
    const ld_host_log *log = self->host->extension(self->host->context, BYTES(LD_HOST_LOG));
    if (log == NULL) return;
    if (bad(self, "log-message", &bytes)) log->log(log->context, 3, BYTES("hostile"), bytes);
    if (bad(self, "log-label", &bytes)) log->log(log->context, 3, bytes, BYTES("message"));
    if (is(self, "log-level")) log->log(log->context, INT32_MIN, BYTES("hostile"), BYTES("low"));
    if (is(self, "log-level")) log->log(log->context, INT32_MAX, BYTES("hostile"), BYTES("high"));
    if (is(self, "log-forges")) {
        log->log(log->context, 3, BYTES("a\nerror b"), BYTES("\x1b[2J\nerror router: \xe2\x80\xae forged \xc2\x9b"));
    }
}

static ld_status open_any(
    void *kind, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    hostile *self = calloc(1, sizeof *self);
    if (self == NULL) return LD_FAILED;
    const char *start = memmem(options.data, options.count, "\"mode\"", 6);
    if (start != NULL && sscanf(start, "\"mode\" : \"%63[^\"]\"", self->mode) != 1) self->mode[0] = 0;
    self->host = host;
    ld_status status;
    *table = &self->table;
    if (is(self, "open-null")) return *table = NULL, LD_OK;
    if (is(self, "open-odd")) return *table = (char *)self + 1, LD_OK;
    switch (*(ld_kind *)kind) {
    case LD_KIND_STORAGE:
        self->table.store = (ld_store){
            .size = sizeof(ld_store), .latency = LD_LATENCY_MEMORY, .self = self, .resolve = resolve, .release = release,
            .get = get, .exists = exists, .set = set, .remove = remove_value, .extension = store_extension,
            .close = close_store};
        if (is(self, "open-latency")) self->table.store.latency = UINT32_MAX;
        if (is(self, "open-no-set")) self->table.store.set = NULL;
        break;
    case LD_KIND_CRYPTO:
        self->table.crypto = (ld_crypto){
            .size = sizeof(ld_crypto), .algorithms = algorithms, .algorithm_count = 3, .self = self, .seal = seal,
            .open = open_sealed, .derive = derive, .random = random_bytes, .extension = crypto_extension};
        if (is(self, "list-null")) self->table.crypto.algorithms = NULL;
        if (is(self, "list-max")) self->table.crypto.algorithm_count = SIZE_MAX;
        if (is(self, "list-min")) self->table.crypto.algorithm_count = (size_t)1 << 63;
        if (is(self, "list-none")) self->table.crypto.algorithm_count = 0;
        if (is(self, "list-twice")) self->table.crypto.algorithms = twice;
        if (is(self, "list-odd")) self->table.crypto.algorithms = odd;
        if (is(self, "list-null-entry")) self->table.crypto.algorithms = null;
        if (is(self, "list-lonely")) self->table.crypto.algorithms = lonely;
        break;
    case LD_KIND_SYNC:
        self->table.sync = (ld_sync){
            .size = sizeof(ld_sync), .largest_record = 262144, .self = self, .publish = publish,
            .remove = remove_records, .fetch = fetch, .subscribe = subscribe, .unsubscribe = unsubscribe,
            .cancel = cancel_calls, .close = close_sync};
        if (is(self, "open-no-fetch")) self->table.sync.fetch = NULL;
        if (is(self, "open-no-cancel")) self->table.sync.cancel = NULL;
        if (is(self, "open-few")) self->table.sync.largest_record = 262143;
        if (is(self, "open-many")) self->table.sync.largest_record = UINT64_MAX;
        break;
    default:
        self->table.pack = (ld_migration_pack){
            .size = sizeof(ld_migration_pack), .migrations = TEXT(LIST), .self = self, .should_migrate = should_migrate,
            .migrate = migrate, .validate = validate, .convert = convert};
        bad(self, "list", &self->table.pack.migrations);
        if (is(self, "list-text")) self->table.pack.migrations = BYTES("[[[[");
        if (is(self, "list-deep")) {
            char *deep = malloc(1 << 20);
            if (deep == NULL) break;
            memset(deep, '[', 1 << 20);
            self->table.pack.migrations = (ld_bytes){deep, 1 << 20};
        }
    }
    if (is(self, "open-size")) *(uint32_t *)&self->table = UINT32_MAX;
    if (is(self, "open-small")) *(uint32_t *)&self->table = 4;
    talk(self);
    if (answers(self, "open", error, &status)) return status;
    return LD_OK;
}

/* ------------------------------------------------------------------ descriptor --------------------------------- */

#define MODE "[{\"name\":\"mode\",\"type\":\"string\",\"default\":\"\",\"help\":\"the rule to break\"}]"

static ld_kind kinds[] = {LD_KIND_STORAGE, LD_KIND_CRYPTO, LD_KIND_MIGRATION, LD_KIND_SYNC};
static ld_component components[] = {
    {.size = sizeof(ld_component), .kind = LD_KIND_STORAGE, .id = TEXT("hostile-store"), .summary = TEXT("breaks rules"),
     .options = TEXT(MODE), .context = &kinds[0], .open = open_any},
    {.size = sizeof(ld_component), .kind = LD_KIND_CRYPTO, .id = TEXT("hostile-crypto"), .summary = TEXT("breaks rules"),
     .options = TEXT(MODE), .context = &kinds[1], .open = open_any},
    {.size = sizeof(ld_component), .kind = LD_KIND_MIGRATION, .id = TEXT("hostile-pack"), .summary = TEXT("breaks rules"),
     .options = TEXT(MODE), .context = &kinds[2], .open = open_any},
    {.size = sizeof(ld_component), .kind = LD_KIND_SYNC, .id = TEXT("hostile-sync"), .summary = TEXT("breaks rules"),
     .options = TEXT(MODE), .context = &kinds[3], .open = open_any},
};
static const ld_component *list[] = {&components[0], &components[1], &components[2], &components[3]};
static ld_plugin plugin = {
    .size = sizeof(ld_plugin), .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("Hostile"), .version = TEXT("1.0.0"), .components = list, .component_count = 4};

/* The mode, from this library's file name. */
static void file_mode(hostile *self) {
    Dl_info info;
    if (dladdr(&plugin, &info) == 0 || info.dli_fname == NULL) return;
    const char *name = strrchr(info.dli_fname, '/');
    name = name != NULL ? name + 1 : info.dli_fname;
    if (!begins(name, "libmode-")) return;
    snprintf(self->mode, sizeof self->mode, "%s", name + strlen("libmode-"));
    char *end = strrchr(self->mode, '.');
    if (end != NULL) *end = 0;
}

LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) {
    hostile self = {0};
    file_mode(&self);
    if (self.mode[0] == 0) return &plugin;
    bad(&self, "name", &plugin.name);
    bad(&self, "version", &plugin.version);
    bad(&self, "id", &components[0].id);
    bad(&self, "summary", &components[0].summary);
    bad(&self, "options", &components[0].options);
    if (is(&self, "count-max")) plugin.component_count = SIZE_MAX;
    if (is(&self, "count-min")) plugin.component_count = (size_t)1 << 63;
    if (is(&self, "list-null")) plugin.components = NULL;
    if (is(&self, "entry-null")) list[1] = NULL;
    if (is(&self, "entry-odd")) list[1] = (const void *)((const char *)&components[1] + 1);
    if (is(&self, "options-none")) components[0].options = (ld_bytes){NULL, 0};
    if (is(&self, "options-deep")) {
        static char deep[1 << 20];
        memset(deep, '[', sizeof deep);
        components[0].options = (ld_bytes){deep, sizeof deep};
    }
    if (is(&self, "text")) {
        plugin.name = BYTES("Na\x1b[31mme\nrefused"), plugin.version = BYTES("1\xe2\x80\xae.0\xc2\x9b");
        components[0].summary = BYTES("line\xe2\x80\xa8" "break\xd8\x9c");
        components[0].options = BYTES(
            "[{\"name\":\"mo\\u001b[1mde\",\"type\":\"string\",\"default\":\"\\u202e\",\"help\":\"he\\u009blp\\nx\","
            "\"allowed\":[\"\\u202e\",\"\\u0007\"]}]");
    }
    if (is(&self, "exit")) exit(0);
    return &plugin;
}
