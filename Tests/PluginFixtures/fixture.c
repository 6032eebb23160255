/*
 * A storage plugin in plain C that tests build in many variants, each of which breaks one rule:
 *
 *     cc -std=c11 -shared -fPIC -I Sources/LocalDataAPI/CLocalData/include -DFIXTURE_... fixture.c -o libFixture.so
 *
 * Without a -DFIXTURE_ it is a correct, small store in memory. -DCOMPONENT_ID="\"name\"" names its component.
 */
#define _GNU_SOURCE
#include <localdata/plugin.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifndef COMPONENT_ID
#define COMPONENT_ID "fixture"
#endif
#define TEXT(literal) {literal, sizeof(literal) - 1}

/* ------------------------------------------------------------------ values, in a list under one lock ------------ */

typedef struct entry {
    struct entry *next;
    char *key; /* domain, scope and name, each with its length */
    size_t key_count;
    bool is_stored;
    void *value;
    size_t count;
} entry;

static entry *entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void sleep_ms(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0) {
    }
}

static ld_status fail(const ld_error_sink *error, ld_error_code code, const char *message, const char *hint) {
    if (error != NULL) {
        ld_bytes text = {message, strlen(message)}, advice = {hint, strlen(hint)};
        error->report(error->context, code, text, advice);
    }
    return LD_FAILED;
}

static ld_status resolve(void *self, const ld_address *address, void **handle, const ld_error_sink *error) {
    (void)self;
#ifdef FIXTURE_RESOLVE_FAILS
    (void)address, (void)handle;
    return fail(error, LD_ERROR_INVALID_ADDRESS, "the fixture resolves nothing", "use another fixture");
#else
    const ld_bytes parts[3] = {address->place->domain, address->place->scope, address->name};
    size_t count = 0;
    for (int i = 0; i < 3; i++) count += sizeof(size_t) + parts[i].count;
    char *key = malloc(count), *end = key;
    if (key == NULL) return fail(error, LD_ERROR_UNKNOWN, "out of memory", "");
    for (int i = 0; i < 3; i++) {
        memcpy(end, &parts[i].count, sizeof(size_t));
        end += sizeof(size_t);
        if (parts[i].count > 0) memcpy(end, parts[i].data, parts[i].count);
        end += parts[i].count;
    }
    pthread_mutex_lock(&lock);
    entry *found = entries;
    while (found != NULL && (found->key_count != count || memcmp(found->key, key, count) != 0)) found = found->next;
    if (found == NULL && (found = calloc(1, sizeof(entry))) != NULL) {
        found->key = key, found->key_count = count, found->next = entries;
        entries = found;
        key = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(key);
    *handle = found;
    return found != NULL ? LD_OK : fail(error, LD_ERROR_UNKNOWN, "out of memory", "");
#endif
}

static void release(void *self, void *handle) { (void)self, (void)handle; }

static ld_status get(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    (void)self, (void)error;
#ifdef FIXTURE_SLOW
    sleep_ms(FIXTURE_SLOW);
#endif
#ifdef FIXTURE_ANSWER
    /* Stores nothing and always gives the same answer, for tests that ask which store answered a call. */
    (void)handle;
    return sink->write(sink->context, (ld_bytes)TEXT(FIXTURE_ANSWER)) == 0 ? LD_OK : LD_STOPPED;
#endif
#ifdef FIXTURE_GET_ERROR
    (void)handle, (void)sink;
    return fail(error, FIXTURE_GET_ERROR, "reported by the fixture, with \xff a byte that is no UTF-8", "try again");
#elif defined FIXTURE_GET_SILENT_FAILURE
    (void)handle, (void)sink;
    return LD_FAILED;
#elif defined FIXTURE_GET_NOTHING
    (void)handle, (void)sink;
    return LD_OK;
#elif defined FIXTURE_STATUS
    (void)handle, (void)sink;
    return FIXTURE_STATUS;
#else
    entry *entry = handle;
    pthread_mutex_lock(&lock);
    bool is_stored = entry->is_stored;
    size_t count = entry->count;
    void *copy = malloc(count + 1);
    if (copy != NULL && count > 0) memcpy(copy, entry->value, count);
    pthread_mutex_unlock(&lock);
    if (is_stored && copy != NULL) sink->write(sink->context, (ld_bytes){copy, count});
    free(copy);
    return is_stored ? LD_OK : LD_ABSENT;
#endif
}

static ld_status exists(void *self, void *handle, const ld_error_sink *error) {
    (void)self, (void)error;
#ifdef FIXTURE_STATUS
    (void)handle;
    return FIXTURE_STATUS;
#endif
    pthread_mutex_lock(&lock);
    bool is_stored = ((entry *)handle)->is_stored;
    pthread_mutex_unlock(&lock);
    return is_stored ? LD_OK : LD_ABSENT;
}

static ld_status set(
    void *self, void *handle, ld_bytes value, const ld_attributes *attributes, const ld_error_sink *error) {
    (void)self, (void)attributes;
#ifdef FIXTURE_STATUS
    (void)handle, (void)value;
    return FIXTURE_STATUS;
#endif
    void *copy = malloc(value.count + 1);
    if (copy == NULL) return fail(error, LD_ERROR_NO_SPACE, "out of memory", "");
    if (value.count > 0) memcpy(copy, value.data, value.count);
    entry *entry = handle;
    pthread_mutex_lock(&lock);
    void *old = entry->value;
    entry->value = copy, entry->count = value.count, entry->is_stored = true;
    pthread_mutex_unlock(&lock);
    free(old);
    return LD_OK;
}

static ld_status remove_value(void *self, void *handle, const ld_error_sink *error) {
    (void)self, (void)error;
#ifdef FIXTURE_STATUS
    (void)handle;
    return FIXTURE_STATUS;
#endif
    entry *entry = handle;
    pthread_mutex_lock(&lock);
    bool was_stored = entry->is_stored;
    void *old = entry->value;
    entry->value = NULL, entry->count = 0, entry->is_stored = false;
    pthread_mutex_unlock(&lock);
    free(old);
    return was_stored ? LD_OK : LD_ABSENT;
}

/* ------------------------------------------------------------------ a plugin of a later minor ------------------- */

#ifdef FIXTURE_NEWER
static bool is_id(ld_bytes id, const char *other) {
    return id.count == strlen(other) && memcmp(id.data, other, id.count) == 0;
}

/* Members at the end of every struct that this host does not know. Using one crashes. */
#define LATER void *later[4];
#define LATER_VALUE .later = {(void *)16, (void *)16, (void *)16, (void *)16},

typedef struct later_attributes {
    ld_attributes known;
    LATER
} later_attributes;

static ld_status attributes(
    void *self, void *handle, void *context, void (*take)(void *context, const ld_attributes *attributes),
    const ld_error_sink *error) {
    if (exists(self, handle, error) != LD_OK) return LD_ABSENT;
    later_attributes kept = {.known = {.size = sizeof kept, .content_type = TEXT("text/later")}, LATER_VALUE};
    take(context, &kept.known);
    return LD_OK;
}

static const struct {
    ld_store_attributes table;
    LATER
} attributing = {.table = {.size = sizeof attributing, .attributes = attributes}, LATER_VALUE};

/* Abilities that this host does not know: one of other people, and one that a host knew before the first release. */
static const struct {
    uint32_t size;
    LATER
} unknown = {.size = sizeof unknown, LATER_VALUE};

static const void *extension(void *self, ld_bytes id) {
    (void)self;
    if (is_id(id, LD_STORE_ATTRIBUTES)) return &attributing;
    return is_id(id, "example.unknown/1") || is_id(id, "localdata.store.tagged/1") ? &unknown : NULL;
}
#else
#define LATER
#define LATER_VALUE
#endif

/* ------------------------------------------------------------------ abilities that break a rule ---------------- */

#ifdef FIXTURE_NULL_ABILITIES
/* Tables of the right size without functions. */
static const struct {
    uint32_t size;
    void *functions[8];
} null_ability = {
#ifdef FIXTURE_SHORT_ABILITIES
    .size = 8,
#else
    .size = sizeof(ld_store_transactions),
#endif
};

static const void *extension(void *self, ld_bytes id) {
    (void)self, (void)id;
    return &null_ability;
}
#elif defined FIXTURE_BAD_NAMES
/* Lists a name that is not UTF-8. */
static ld_status names(
    void *self, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t limit, const ld_sink *sink,
    const ld_error_sink *error) {
    (void)self, (void)place, (void)prefix, (void)after, (void)limit, (void)error;
    if (sink->write(sink->context, (ld_bytes)TEXT("good")) != 0) return LD_STOPPED;
    return sink->write(sink->context, (ld_bytes)TEXT("bad\xff")) == 0 ? LD_OK : LD_STOPPED;
}

static ld_status places(void *self, const ld_sink *sink, const ld_error_sink *error) {
    (void)self, (void)sink, (void)error;
    return LD_OK;
}

static const ld_store_enumeration enumeration = {sizeof(enumeration), names, places};

static const void *extension(void *self, ld_bytes id) {
    (void)self;
    bool is_asked = id.count == strlen(LD_STORE_ENUMERATION) && memcmp(id.data, LD_STORE_ENUMERATION, id.count) == 0;
    return is_asked ? &enumeration : NULL;
}
#elif defined FIXTURE_LISTS_ASKED
/* Lists the ids of the requested abilities, each after a distinct letter, as names are sorted. */
static char asked[26][64];
static size_t asked_count;

static ld_status names(
    void *self, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t limit, const ld_sink *sink,
    const ld_error_sink *error) {
    (void)self, (void)place, (void)prefix, (void)after, (void)limit, (void)error;
    for (size_t i = 0; i < asked_count; i++) {
        if (sink->write(sink->context, (ld_bytes){asked[i], strlen(asked[i])}) != 0) return LD_STOPPED;
    }
    return LD_OK;
}

static ld_status places(void *self, const ld_sink *sink, const ld_error_sink *error) {
    (void)self, (void)sink, (void)error;
    return LD_OK;
}

static const ld_store_enumeration enumeration = {sizeof(enumeration), names, places};

static const void *extension(void *self, ld_bytes id) {
    (void)self;
    if (asked_count < 26 && id.count < sizeof asked[0] - 1) {
        asked[asked_count][0] = (char)('a' + asked_count);
        memcpy(asked[asked_count++] + 1, id.data, id.count);
    }
    bool is_asked = id.count == strlen(LD_STORE_ENUMERATION) && memcmp(id.data, LD_STORE_ENUMERATION, id.count) == 0;
    return is_asked ? &enumeration : NULL;
}
#elif defined FIXTURE_SPITEFUL_SOURCE
/* Reports its own error where the rule is to return LD_STOPPED because the source failed. */
static ld_status write_pieces(
    void *self, void *handle, const ld_source *source, const ld_attributes *attributes, const ld_error_sink *error) {
    (void)self, (void)handle, (void)attributes;
    char buffer[64];
    int64_t count;
    while ((count = source->read(source->context, buffer, sizeof buffer)) > 0) {
    }
    return count == 0 ? LD_OK : fail(error, LD_ERROR_FILE, "the fixture blames a file", "");
}

static ld_status read_pieces(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    (void)self, (void)handle, (void)sink, (void)error;
    return LD_ABSENT;
}

static const ld_store_streaming streaming = {sizeof(streaming), read_pieces, write_pieces};

static const void *extension(void *self, ld_bytes id) {
    (void)self;
    bool is_asked = id.count == strlen(LD_STORE_STREAMING) && memcmp(id.data, LD_STORE_STREAMING, id.count) == 0;
    return is_asked ? &streaming : NULL;
}
#endif


/* ------------------------------------------------------------------ tables -------------------------------------- */

static const struct {
    ld_store table;
    LATER
} store = {
    .table = {
#ifdef FIXTURE_STORE_SIZE
        .size = FIXTURE_STORE_SIZE,
#else
        .size = sizeof(store),
#endif
#ifdef FIXTURE_NEWER
        .flags = 0xffff0000u, .enforces = 0x80008000u,
#endif
#if defined FIXTURE_NEWER || defined FIXTURE_NULL_ABILITIES || defined FIXTURE_BAD_NAMES || defined FIXTURE_LISTS_ASKED \
    || defined FIXTURE_SPITEFUL_SOURCE
        .extension = extension,
#endif
#ifdef FIXTURE_LATENCY
        .latency = FIXTURE_LATENCY,
#else
        .latency = LD_LATENCY_MEMORY,
#endif
#ifndef FIXTURE_NO_GET
        .get = get,
#endif
        .resolve = resolve, .release = release, .exists = exists, .set = set, .remove = remove_value,
#ifdef FIXTURE_LARGEST
        .largest_value = FIXTURE_LARGEST,
#endif
    },
    LATER_VALUE
};

static ld_status open_store(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)options, (void)error, (void)host;
#ifdef FIXTURE_OPEN_FAILS
    return fail(error, LD_ERROR_STORE_UNAVAILABLE, "the fixture's server does not answer", "start the server");
#elif defined FIXTURE_OPEN_NULL
    *table = NULL;
    return LD_OK;
#else
#ifdef FIXTURE_LOGS
    const ld_host_log *log = host->extension(host->context, (ld_bytes)TEXT(LD_HOST_LOG));
    if (log != NULL) log->log(log->context, 1, (ld_bytes)TEXT("fixture"), (ld_bytes)TEXT("hello from C"));
#endif
    *table = &store;
    return LD_OK;
#endif
}

static const struct {
    ld_component table;
    LATER
} component = {
    .table = {
#ifdef FIXTURE_COMPONENT_SIZE
        .size = FIXTURE_COMPONENT_SIZE,
#else
        .size = sizeof(component),
#endif
        .kind = LD_KIND_STORAGE,
#ifdef FIXTURE_BAD_ID
        .id = TEXT("Not An Id"),
#else
        .id = TEXT(COMPONENT_ID),
#endif
        .summary = TEXT("a store for tests"),
#ifdef FIXTURE_BAD_OPTIONS
        .options = TEXT("not json"),
#elif defined FIXTURE_OPTIONS
        .options = TEXT("[{\"name\":\"mode\",\"type\":\"string\",\"default\":\"fast\",\"allowed\":[\"fast\",\"safe\"],"
                        "\"help\":\"how\"},{\"name\":\"root\",\"type\":\"path\",\"default\":\"${data}/x\",\"help\":\"where\"},"
                        "{\"name\":\"count\",\"type\":\"integer\",\"required\":true,\"help\":\"how many\"}]"),
#else
        .options = TEXT("[]"),
#endif
#ifndef FIXTURE_NO_OPEN
        .open = open_store,
#endif
    },
    LATER_VALUE
};

#ifdef FIXTURE_NEWER
static const struct {
    ld_component table;
    LATER
} unknown_kind = {
    .table = {
        .size = sizeof(unknown_kind), .kind = 77, .id = TEXT("later"), .summary = TEXT("of a kind that came later"),
        .options = TEXT("[{\"name\":\"mode\",\"type\":\"string\",\"default\":\"a\",\"help\":\"how\",\"later\":[1]}]"),
        .open = open_store,
    },
    LATER_VALUE
};
#endif

static const ld_component *const components[] = {
#ifdef FIXTURE_NEWER
    &unknown_kind.table,
#endif
#ifdef FIXTURE_NULL_COMPONENT
    NULL,
#endif
    &component.table,
#ifdef FIXTURE_TWICE
    &component.table,
#endif
};

static const struct {
    ld_plugin table;
    LATER
} plugin = {
    .table = {
#ifdef FIXTURE_SIZE
        .size = FIXTURE_SIZE,
#else
        .size = sizeof(plugin),
#endif
#ifdef FIXTURE_BAD_MAGIC
        .magic = 0x12345678u,
#else
        .magic = LD_MAGIC,
#endif
#ifdef FIXTURE_BAD_MAJOR
        .abi_major = LD_ABI_MAJOR + 1,
#else
        .abi_major = LD_ABI_MAJOR,
#endif
#ifdef FIXTURE_MINOR
        .abi_minor = FIXTURE_MINOR,
#else
        .abi_minor = LD_ABI_MINOR,
#endif
#ifdef FIXTURE_BAD_NAME
        .name = TEXT("Fixt\xffre"),
#else
        .name = TEXT("Fixture"),
#endif
        .version = TEXT("1.0.0"),
        .components = components,
#ifdef FIXTURE_LYING_COUNT
        .component_count = (size_t)1 << 60,
#else
        .component_count = sizeof(components) / sizeof(components[0]),
#endif
    },
    LATER_VALUE
};

__attribute__((constructor)) static void begin(void) {
#ifdef FIXTURE_MARK
    /* Writes the process id to a file if any of this library's code runs. */
    FILE *file = fopen(FIXTURE_MARK, "w");
    if (file != NULL) {
        fprintf(file, "%ld", (long)getpid());
        fclose(file);
    }
#endif
#ifdef FIXTURE_NOISE
    printf("{\"description\": \"noise\"}\n");
    fflush(stdout);
#endif
#ifdef FIXTURE_KILLPARENT
    /* Only during an inspection, whose processes have no HOME; the test's own process is left alone. */
    if (getenv("HOME") == NULL) {
        struct rlimit none = {0, 0};
        prlimit(getppid(), RLIMIT_CPU, &none, NULL);
        kill(getppid(), SIGKILL);
        kill(0, SIGTERM);
        kill(-1, SIGTERM);
    }
#endif
#ifdef FIXTURE_DAEMON
    /* Leaves a process that has left the group and lost its parent; its id is written before this continues. */
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && fork() == 0) {
        setsid();
        if (fork() == 0) {
            FILE *mark = fopen(FIXTURE_DAEMON, "w");
            if (mark != NULL) {
                fprintf(mark, "%ld", (long)getpid());
                fclose(mark);
            }
            close(ends[1]);
            for (;;) pause();
        }
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) < 0) _exit(9);
#endif
#ifdef FIXTURE_FORGE
    if (getenv("HOME") == NULL) {
        const char *report =
            "{\"description\":{\"name\":\"Forged\",\"version\":\"1\",\"abi\":\"1.1\",\"components\":[{\"kind\":1,"
            "\"id\":\"forged\",\"summary\":\"\",\"options\":[]}]}}";
        for (int file = 3; file < 32; file++) {
            if (write(file, report, strlen(report)) < 0) continue;
        }
        _exit(0);
    }
#endif
#ifdef FIXTURE_SLOW_START
    sleep_ms(FIXTURE_SLOW_START);
#endif
#ifdef FIXTURE_ABORT
    abort();
#endif
#ifdef FIXTURE_EXIT
    _exit(7);
#endif
#ifdef FIXTURE_HANG
    for (;;) pause();
#endif
}

#ifdef FIXTURE_NO_ENTRY
const void *fixture_unrelated(void);
const void *fixture_unrelated(void) { return &plugin; }
#elif defined FIXTURE_OTHER_MAJOR
LD_EXPORT const void *localdata_plugin_v2(void);
const void *localdata_plugin_v2(void) { return &plugin; }
#elif defined FIXTURE_NULL
LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return NULL; }
#elif defined FIXTURE_CRASH
LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return *(const void *volatile *)8; }
#elif defined FIXTURE_MISALIGNED
LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return (const char *)&plugin + 1; }
#elif defined FIXTURE_MISSING_LIBRARY_FUNCTION
/* Needs a function that no library has: the loader notices before any of this code runs. */
LD_EXPORT const void *localdata_plugin_v1(void);
extern const void *fixture_function_of_no_library(void);
const void *localdata_plugin_v1(void) { return fixture_function_of_no_library(); }
#else
LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return &plugin; }
#endif
