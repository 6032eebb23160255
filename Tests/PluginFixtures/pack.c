/*
 * A migration pack in plain C. Without options it is right; the option `breaks` names a way in which it breaks a promise,
 * and -DPACK_... a way in which its table or its list break their form:
 *
 *     cc -std=c11 -shared -fPIC -pthread -I Sources/LocalDataAPI/CLocalData/include pack.c -o libPack.so
 *     ld-host plugins test libPack.so --options '{"breaks": "swallows"}'
 *
 * Its migrations move own/old to own/new and own/left to own/right, remove own/gone, and make the values of own:low upper
 * case in own:high.
 */
#define _GNU_SOURCE
#include <localdata/plugin.h>

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) {literal, sizeof(literal) - 1}

#ifndef PACK_REVISION
#define PACK_REVISION "1"
#endif
#ifndef PACK_LIST
#define PACK_LIST(revision, summary)                                                                                   \
    "[{\"id\":\"move\",\"revision\":" revision ",\"summary\":\"" summary "\",\"destination\":{\"address\":\"own/new\"},"     \
    "\"sources\":[{\"address\":\"own/old\"}]},"                                                                           \
    "{\"id\":\"turn\",\"summary\":\"moves left to right\",\"destination\":{\"address\":\"own/right\"},"                    \
    "\"sources\":[{\"address\":\"own/left\"}],\"dependencies\":[\"move\"]},"                                              \
    "{\"id\":\"remove\",\"summary\":\"removes what is gone\",\"effect\":\"removes\","                                     \
    "\"destination\":{\"address\":\"own/gone\"}},"                                                                        \
    "{\"id\":\"shout\",\"summary\":\"makes values upper case\",\"bulk\":{\"source\":{\"domain\":\"own:low\"},"            \
    "\"destination\":{\"domain\":\"own:high\"},\"converts\":true}}]"
#endif

#ifdef PACK_NEWER
/* A pack of a later minor version: its structs are larger than this host's. */
#define LATER void *later[4];
#else
#define LATER
#endif

typedef struct later_transaction {
    ld_migration_transaction known;
    void (*later)(void *context);
} later_transaction;

typedef struct pack {
    struct {
        ld_migration_pack known;
        LATER
    } table;
    char list[4096];
    char breaks[64];
    ld_migration_transaction kept;
    int is_kept;
    atomic_int conditions, conversions, runs[3];
} pack;

static int is(const pack *self, const char *way) { return strcmp(self->breaks, way) == 0; }

static ld_status failed(const ld_error_sink *error, ld_error_code code, const char *message) {
    if (error != NULL) error->report(error->context, code, (ld_bytes){message, strlen(message)}, (ld_bytes){0});
    return LD_FAILED;
}

static ld_migration_key key(const char *address) {
    return (ld_migration_key){.size = sizeof(ld_migration_key), .address = {address, strlen(address)}};
}

/* A value of up to 64 KiB, received by a sink. */
typedef struct value {
    size_t count;
    unsigned char bytes[65536];
} value;

static int32_t take(void *context, ld_bytes bytes) {
    value *taken = context;
    if (bytes.count > sizeof taken->bytes) return 1;
    memcpy(taken->bytes, bytes.data, bytes.count);
    taken->count = bytes.count;
    return 0;
}

/* A buffer for moves of the variant that shares memory wrongly. */
static value shared;

static const char *const sources[] = {"own/old", "own/left", "own/gone"};
static const char *const destinations[] = {"own/new", "own/right", NULL};

static ld_status unknown(const ld_error_sink *error) {
    return failed(error, LD_ERROR_UNSUPPORTED, "there is no such migration");
}

static ld_status should_migrate(
    void *context, size_t index, const ld_migration_transaction *transaction, ld_bytes situation,
    const ld_error_sink *error) {
    pack *self = context;
    if (situation.count < 2) return failed(error, LD_ERROR_UNSUPPORTED, "there is no context");
    if (index > 2) return is(self, "any-index") ? LD_ABSENT : unknown(error);
    if (is(self, "condition-counts") && self->conditions++ % 2 == 1) return LD_ABSENT;
    ld_migration_key source = key(sources[index]);
    if (is(self, "condition-writes")) {
        ld_migration_key mark = key("own/mark");
        transaction->set(transaction->context, &mark, (ld_bytes)TEXT("seen"), NULL);
    }
    return transaction->exists(transaction->context, &source, error);
}

static void *look(void *context) {
    const ld_migration_transaction *transaction = context;
    ld_migration_key mark = key("own/mark");
    transaction->exists(transaction->context, &mark, NULL);
    return NULL;
}

static ld_status move(
    pack *self, size_t index, const ld_migration_transaction *transaction, const ld_migration_key *from, const ld_migration_key *to,
    const ld_error_sink *error) {
    value *taken = is(self, "shared-memory") ? &shared : calloc(1, sizeof(value));
    if (taken == NULL) return failed(error, LD_ERROR_NO_SPACE, "there is no memory");
    ld_sink sink = {sizeof sink, taken, take};
    ld_status status = transaction->get(transaction->context, from, &sink, error);
    if (status == LD_ABSENT) status = failed(error, LD_ERROR_MIGRATION_SOURCE_NOT_FOUND, "there is nothing to move");
    /* Other calls may run here. */
    if (status == LD_OK) status = transaction->exists(transaction->context, to, error) < 0 ? LD_FAILED : LD_OK;
    if (status == LD_OK) {
        ld_bytes bytes = {taken->bytes, taken->count};
        if (is(self, "remembers") && self->runs[index]++ > 0) bytes.count = 0;
        if (is(self, "shows-value")) {
            status = transaction->set(transaction->context, to, bytes, NULL);
            if (status == LD_FAILED) {
                char text[256];
                snprintf(text, sizeof text, "could not write %.*s", (int)bytes.count, (const char *)bytes.data);
                failed(error, LD_ERROR_FILE, text);
            }
        } else {
            status = transaction->set(transaction->context, to, bytes, is(self, "swallows") ? NULL : error);
            if (is(self, "swallows")) status = LD_OK;
        }
    }
    if (taken != &shared) {
        memset(taken, 0, sizeof *taken);
        free(taken);
    }
    if (status != LD_OK) return status;
    return transaction->remove(transaction->context, from, error);
}

static ld_status migrate(
    void *context, size_t index, const ld_migration_transaction *transaction, ld_bytes situation, const ld_sink *result,
    const ld_error_sink *error) {
    pack *self = context;
    if (situation.count < 2) return failed(error, LD_ERROR_UNSUPPORTED, "there is no context");
    if (index > 2) return is(self, "any-index") ? LD_OK : unknown(error);
#ifdef PACK_NEWER
    /* Asks for a member like a plugin of a later minor version: a host of this minor does not have it. */
    const later_transaction *newer = (const later_transaction *)transaction;
    if (LD_HAS(&newer->known, set_tagged) && (size_t)transaction->size >= LD_SIZE_THROUGH(later_transaction, later)) {
        newer->later(transaction->context);
    }
#endif
    ld_migration_key source = key(sources[index]);
    if (is(self, "ignores-cancel") && transaction->is_cancelled(transaction->context)) {
        static const ld_bytes done = TEXT("{\"success\":true}");
        return result->write(result->context, done) == 0 ? LD_OK : LD_STOPPED;
    }
    if (self->is_kept) {
        ld_migration_key mark = key("own/mark");
        self->kept.exists(self->kept.context, &mark, NULL);
        self->is_kept = 0;
    } else if (is(self, "keeps-transaction")) {
        self->kept = *transaction;
        self->is_kept = 1;
    }
    if (is(self, "other-thread")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, look, (void *)transaction) == 0) pthread_join(thread, NULL);
    }
    ld_status status;
    if (destinations[index] == NULL) {
        status = transaction->remove(transaction->context, &source, error);
    } else {
        ld_migration_key to = key(is(self, "writes-elsewhere") ? "own/elsewhere" : destinations[index]);
        status = move(self, index, transaction, &source, &to, error);
    }
    if (status != LD_OK) return status;
    if (is(self, "loud-success")) failed(error, LD_ERROR_UNKNOWN, "all is well");
    static const ld_bytes done = TEXT("{\"success\":true,\"migratedCount\":1,\"metadata\":{\"by\":\"C\"}}");
    static const ld_bytes broken = TEXT("success: yes");
    return result->write(result->context, is(self, "no-json") ? broken : done) == 0 ? LD_OK : LD_STOPPED;
}

static ld_status validate(void *context, size_t index, const ld_error_sink *error) {
    pack *self = context;
    if (index > 3) return unknown(error);
    return is(self, "never-valid") ? failed(error, LD_ERROR_MIGRATION_VALIDATION, "it is never right") : LD_OK;
}

static ld_status convert(
    void *context, size_t index, ld_bytes name, ld_bytes given, const ld_sink *sink, const ld_error_sink *error) {
    pack *self = context;
    (void)name;
    if (index != 3) return unknown(error);
    unsigned char *copy = malloc(given.count + 1);
    if (copy == NULL) return failed(error, LD_ERROR_NO_SPACE, "there is no memory");
    for (size_t i = 0; i < given.count; i++) copy[i] = (unsigned char)toupper(((const unsigned char *)given.data)[i]);
    copy[given.count] = (unsigned char)('0' + self->conversions++ % 10);
    ld_bytes bytes = {copy, given.count + (is(self, "convert-counts") ? 1 : 0)};
    ld_status status = sink->write(sink->context, bytes) == 0 ? LD_OK : LD_STOPPED;
    free(copy);
    return status;
}

static void cancel(void *context, uint64_t call) { (void)context, (void)call; }

static void shut(void *context) { free(context); }

/* Makes a different file of the same pack. */
#ifdef PACK_MARK
const volatile char mark[] = "another build";
#endif

static atomic_int opened;

static ld_status open_pack(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)host;
    pack *self = calloc(1, sizeof *self);
    if (self == NULL) return failed(error, LD_ERROR_NO_SPACE, "there is no memory");
    /* The host has checked the options: {"breaks":"word"}. */
    char text[256] = {0};
    memcpy(text, options.data, options.count < sizeof text ? options.count : sizeof text - 1);
    char *way = strstr(text, "\"breaks\":\"");
    if (way != NULL) sscanf(way + strlen("\"breaks\":\""), "%63[^\"]", self->breaks);
    if (is(self, "never-opens")) {
        free(self);
        return failed(error, LD_ERROR_STORE_UNAVAILABLE, "it is not there");
    }
    strcpy(
        self->list, is(self, "two-lines") ? PACK_LIST(PACK_REVISION, "moves\\nold") : PACK_LIST(PACK_REVISION, "moves old to new"));
    char *revision = strstr(self->list, "\"revision\":");
    if (is(self, "counts-opens") && revision != NULL) revision[11] = (char)('1' + opened++ % 9);
    self->table.known = (ld_migration_pack){
        .size = sizeof self->table, .migrations = {self->list, strlen(self->list)}, .self = self,
        .should_migrate = should_migrate, .migrate = migrate, .validate = validate, .convert = convert,
        .cancel = cancel, .close = shut,
    };
#ifdef PACK_NEWER
    for (int i = 0; i < 4; i++) self->table.later[i] = (void *)16;
#endif
#ifdef PACK_SIZE
    self->table.known.size = PACK_SIZE;
#endif
#ifdef PACK_WITHOUT
    self->table.known.PACK_WITHOUT = NULL;
#endif
#ifdef PACK_NO_LIST
    self->table.known.migrations.data = NULL;
#endif
#ifdef PACK_HUGE
    self->table.known.migrations.count = PACK_HUGE;
#endif
    *table = &self->table;
    return LD_OK;
}

static const ld_component component = {
    .size = sizeof component, .kind = LD_KIND_MIGRATION, .id = TEXT("c-pack"), .summary = TEXT("migrations in C"),
    .options = TEXT(
        "[{\"name\":\"breaks\",\"type\":\"string\",\"default\":\"\",\"help\":\"what is broken of it\",\"required\":false}]"),
    .open = open_pack,
};
static const ld_component untidy = {
    .size = sizeof untidy, .kind = LD_KIND_MIGRATION, .id = TEXT("untidy"), .summary = TEXT("has an option without help"),
    .options = TEXT("[{\"name\":\"breaks\",\"type\":\"string\",\"default\":\"\",\"help\":\"\",\"required\":false}]"),
    .open = open_pack,
};
static const ld_component *const components[] = {&component, &untidy};
static const ld_plugin plugin = {
    .size = sizeof plugin, .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("Pack"), .version = TEXT("1.0.0"), .components = components, .component_count = 2,
};

LD_EXPORT const void *localdata_plugin_v1(void);
LD_EXPORT const void *localdata_plugin_v1(void) { return &plugin; }
