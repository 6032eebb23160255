/* CMigration's own test: runs the pack as a host does, over values in memory. */
#include <localdata/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const void *localdata_plugin_v1(void);

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);       \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

static ld_bytes text(const char *string) { return (ld_bytes){string, strlen(string)}; }

/* The stored values: at most eight of at most 63 bytes. */
typedef struct record {
    char address[64];
    char value[64];
    int is_there;
} record;
static record records[8];

static record *find(ld_bytes address) {
    for (int i = 0; i < 8; i++) {
        size_t count = strlen(records[i].address);
        if (count == address.count && memcmp(records[i].address, address.data, count) == 0) return &records[i];
        if (count > 0) continue;
        CHECK(address.count < sizeof(records[i].address));
        memcpy(records[i].address, address.data, address.count);
        return &records[i];
    }
    CHECK(0);
    return NULL;
}

static ld_status get(void *context, const ld_migration_key *key, const ld_sink *sink, const ld_error_sink *error) {
    (void)context, (void)error;
    record *found = find(key->address);
    if (!found->is_there) return LD_ABSENT;
    return sink->write(sink->context, text(found->value)) == 0 ? LD_OK : LD_STOPPED;
}

static ld_status exists(void *context, const ld_migration_key *key, const ld_error_sink *error) {
    (void)context, (void)error;
    return find(key->address)->is_there ? LD_OK : LD_ABSENT;
}

static ld_status set(void *context, const ld_migration_key *key, ld_bytes value, const ld_error_sink *error) {
    (void)context, (void)error;
    record *found = find(key->address);
    CHECK(value.count < sizeof(found->value));
    memcpy(found->value, value.data, value.count);
    found->value[value.count] = 0;
    found->is_there = 1;
    return LD_OK;
}

static ld_status delete(void *context, const ld_migration_key *key, const ld_error_sink *error) {
    (void)context, (void)error;
    find(key->address)->is_there = 0;
    return LD_OK;
}

static int32_t is_cancelled(void *context) {
    (void)context;
    return 0;
}

static int32_t expect_success(void *context, ld_bytes result) {
    int *count = context;
    *count += 1;
    CHECK(result.count > 16 && memcmp(result.data, "{\"success\": true", 16) == 0);
    return 0;
}

static void complain(void *context, ld_error_code code, ld_bytes message, ld_bytes hint) {
    (void)hint;
    *(ld_error_code *)context = code;
    CHECK(message.count > 0);
}

int main(void) {
    const ld_plugin *plugin = localdata_plugin_v1();
    CHECK(plugin->magic == LD_MAGIC && plugin->component_count == 1);
    const ld_component *component = plugin->components[0];
    CHECK(component->kind == LD_KIND_MIGRATION);
    ld_error_code code = 0;
    const ld_error_sink error = {.size = sizeof(error), .context = &code, .report = complain};
    const void *opened = NULL;
    CHECK(component->open(component->context, NULL, text("{}"), &opened, &error) == LD_OK);
    const ld_migration_pack *pack = opened;

    const ld_migration_transaction transaction = {
        .size = sizeof(transaction), .call = 1, .get = get, .exists = exists, .set = set, .remove = delete,
        .is_cancelled = is_cancelled};
    int results = 0;
    const ld_sink sink = {.size = sizeof(sink), .context = &results, .write = expect_success};
    const ld_bytes context = text("{\"device\": {}, \"system\": {}, \"history\": {}, \"preferences\": {}}");

    /* With nothing stored, neither migration has anything to do, and running one anyway fails. */
    for (size_t i = 0; i < 2; i++) {
        CHECK(pack->should_migrate(pack->self, i, &transaction, context, &error) == LD_ABSENT);
    }
    CHECK(pack->migrate(pack->self, 0, &transaction, context, &sink, &error) == LD_FAILED);
    CHECK(code == LD_ERROR_MIGRATION_SOURCE_NOT_FOUND && results == 0);

    record *old = find(text("userDefaults/oldTheme"));
    strcpy(old->value, "\"dark\"");
    record *cache = find(text("userDefaults/cache"));
    old->is_there = cache->is_there = 1;
    for (size_t i = 0; i < 2; i++) {
        CHECK(pack->should_migrate(pack->self, i, &transaction, context, &error) == LD_OK);
        CHECK(pack->migrate(pack->self, i, &transaction, context, &sink, &error) == LD_OK);
    }
    CHECK(results == 2 && !old->is_there && !cache->is_there);
    CHECK(strcmp(find(text("userDefaults/theme"))->value, "\"dark\"") == 0);

    CHECK(pack->should_migrate(pack->self, 2, &transaction, context, &error) == LD_FAILED);
    CHECK(code == LD_ERROR_UNSUPPORTED);
    puts("CMigration: the test passed");
    return 0;
}
