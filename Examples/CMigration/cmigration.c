/*
 * CMigration, a LocalData migration pack in C. It has two migrations: one brings the value of userDefaults/oldTheme to
 * userDefaults/theme, the other removes userDefaults/cache. localdata/plugin.h says what each function owes to its caller.
 */
#include <localdata/plugin.h>

#include <stdlib.h>
#include <string.h>

#define TEXT(literal) {literal, sizeof(literal) - 1}

/* The pack's migrations, in the order of their indices. When the behaviour of one changes, it gets a new revision. */
static const char migrations[] =
    "[{\"id\": \"theme\", \"revision\": 1, \"summary\": \"renames oldTheme to theme\","
    "  \"sources\": [{\"address\": \"userDefaults/oldTheme\", \"serializer\": \"json\"}],"
    "  \"destination\": {\"address\": \"userDefaults/theme\", \"serializer\": \"json\"}},"
    " {\"id\": \"no cache\", \"revision\": 1, \"summary\": \"removes the cache\", \"effect\": \"removes\","
    "  \"destination\": {\"address\": \"userDefaults/cache\"}}]";
enum { THEME, NO_CACHE, COUNT };

/* A key is known by its address, serializer and security together; empty fields are as for an address in no catalog. */
static const ld_migration_key old_theme = {
    .size = sizeof(ld_migration_key), .address = TEXT("userDefaults/oldTheme"), .serializer = TEXT("json")};
static const ld_migration_key theme = {
    .size = sizeof(ld_migration_key), .address = TEXT("userDefaults/theme"), .serializer = TEXT("json")};
static const ld_migration_key cache = {.size = sizeof(ld_migration_key), .address = TEXT("userDefaults/cache")};

static ld_status fail(const ld_error_sink *error, ld_error_code code, const char *message, const char *hint) {
    if (error != NULL) {
        error->report(
            error->context, code, (ld_bytes){message, strlen(message)}, (ld_bytes){hint, strlen(hint)});
    }
    return LD_FAILED;
}

static ld_status no_such_migration(const ld_error_sink *error) {
    return fail(error, LD_ERROR_UNSUPPORTED, "the pack has no such migration", "use an index of its list");
}

/* A copy of a value. */
typedef struct copy {
    char *bytes;
    size_t count;
    int has_failed;
} copy;

static int32_t take(void *context, ld_bytes bytes) {
    copy *taken = context;
    taken->bytes = malloc(bytes.count + 1);
    if (taken->bytes == NULL) {
        taken->has_failed = 1;
        return 1;
    }
    if (bytes.count > 0) memcpy(taken->bytes, bytes.data, bytes.count);
    taken->count = bytes.count;
    return 0;
}

/* Returns any failure of the host as it is: the host has already reported the reason. */
static ld_status move(const ld_migration_transaction *transaction, const ld_error_sink *error) {
    copy value = {NULL, 0, 0};
    const ld_sink sink = {.size = sizeof(sink), .context = &value, .write = take};
    ld_status status = transaction->get(transaction->context, &old_theme, &sink, error);
    if (value.has_failed) return fail(error, LD_ERROR_NO_SPACE, "there is no memory for oldTheme", "");
    if (status == LD_ABSENT) {
        return fail(error, LD_ERROR_MIGRATION_SOURCE_NOT_FOUND, "userDefaults/oldTheme is not stored", "");
    }
    if (status == LD_OK) {
        status = transaction->set(transaction->context, &theme, (ld_bytes){value.bytes, value.count}, error);
    }
    /* A value may be a secret: leave no part of it in this library's memory. */
    if (value.bytes != NULL) memset(value.bytes, 0, value.count);
    free(value.bytes);
    if (status != LD_OK) return status;
    return transaction->remove(transaction->context, &old_theme, error);
}

static ld_status should_migrate(
    void *self, size_t migration, const ld_migration_transaction *transaction, ld_bytes context,
    const ld_error_sink *error) {
    (void)self, (void)context;
    switch (migration) {
    case THEME: return transaction->exists(transaction->context, &old_theme, error);
    case NO_CACHE: return transaction->exists(transaction->context, &cache, error);
    default: return no_such_migration(error);
    }
}

static ld_status migrate(
    void *self, size_t migration, const ld_migration_transaction *transaction, ld_bytes context, const ld_sink *result,
    const ld_error_sink *error) {
    (void)self, (void)context;
    ld_status status;
    switch (migration) {
    case THEME: status = move(transaction, error); break;
    case NO_CACHE: status = transaction->remove(transaction->context, &cache, error); break;
    default: return no_such_migration(error);
    }
    if (status != LD_OK) return status;
    static const ld_bytes success = TEXT("{\"success\": true, \"migratedCount\": 1}");
    return result->write(result->context, success) == 0 ? LD_OK : LD_STOPPED;
}

/* The pack has no state: one table serves every configuration that names it. */
static const ld_migration_pack table = {
    .size = sizeof(table),
    .migrations = {migrations, sizeof(migrations) - 1},
    .should_migrate = should_migrate,
    .migrate = migrate,
};

static ld_status open_pack(
    void *context, const ld_host *host, ld_bytes options, const void **opened, const ld_error_sink *error) {
    (void)context, (void)host, (void)options, (void)error;
    *opened = &table;
    return LD_OK;
}

static const ld_component component = {
    .size = sizeof(component),
    .kind = LD_KIND_MIGRATION,
    .id = TEXT("c-migration"),
    .summary = TEXT("renames the theme and removes the cache"),
    .options = TEXT("[]"),
    .open = open_pack,
};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof(plugin),
    .magic = LD_MAGIC,
    .abi_major = LD_ABI_MAJOR,
    .abi_minor = LD_ABI_MINOR,
    .name = TEXT("CMigration"),
    .version = TEXT("0.1.0"),
    .components = components,
    .component_count = 1,
};

LD_EXPORT const void *localdata_plugin_v1(void);
LD_EXPORT const void *localdata_plugin_v1(void) { return &plugin; }
