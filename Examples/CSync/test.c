/* CSync's own test: two devices use the transport as hosts do. */
#define _DEFAULT_SOURCE /* mkdtemp(3) */
#include <localdata/plugin.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const void *localdata_plugin_v1(void);

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);       \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

static ld_bytes text(const char *string) { return (ld_bytes){string, strlen(string)}; }

/* What the last call reported. */
static ld_error_code code;
static void report(void *context, ld_error_code reported, ld_bytes message, ld_bytes hint) {
    (void)context, (void)hint;
    CHECK(message.count > 0);
    code = reported;
}
static const ld_error_sink error = {.size = sizeof(error), .report = report};

/* What a fetch passed, as "writer/name=content;", and where it ended. */
typedef struct fetched {
    char records[256], position[64];
    size_t position_count;
    int most;
} fetched;

static int32_t take(void *context, const ld_sync_record *record) {
    fetched *found = context;
    size_t used = strlen(found->records);
    snprintf(found->records + used, sizeof(found->records) - used, "%.*s/%.*s=%.*s;", (int)record->writer.count,
        (const char *)record->writer.data, (int)record->name.count, (const char *)record->name.data,
        (int)record->content.count, (const char *)record->content.data);
    return --found->most <= 0;
}

static int32_t take_position(void *context, ld_bytes bytes) {
    fetched *found = context;
    CHECK(bytes.count > 0 && bytes.count <= sizeof(found->position));
    memcpy(found->position, bytes.data, bytes.count);
    found->position_count = bytes.count;
    return 0;
}

static fetched fetch(const ld_sync *device, const fetched *since, int most) {
    fetched found = {.most = most};
    ld_sink sink = {.size = sizeof(sink), .context = &found, .write = take_position};
    ld_bytes position = since != NULL ? (ld_bytes){since->position, since->position_count} : (ld_bytes){NULL, 0};
    CHECK(device->fetch(device->self, position, &found, take, &sink, &error) == LD_OK);
    return found;
}

static ld_status publish(const ld_sync *device, const char *name, ld_bytes content) {
    ld_sync_record record = {.size = sizeof(record), .writer = text("laptop"), .name = text(name), .content = content};
    const ld_sync_record *records[] = {&record};
    return device->publish(device->self, records, 1, &error);
}

static const ld_sync *open_device(const char *folder) {
    const ld_plugin *plugin = localdata_plugin_v1();
    const void *table = NULL;
    char options[256];
    snprintf(options, sizeof(options), "{\"folder\":\"%s\\/\\u0064eep\"}", folder);
    CHECK(plugin->components[0]->open(plugin->components[0]->context, NULL, text(options), &table, &error) == LD_OK);
    return table;
}

static void notify(void *context, int32_t notice) {
    CHECK(notice == LD_SYNC_CHANGED);
    atomic_fetch_add((atomic_int *)context, 1);
}

int main(void) {
    char folder[] = "/tmp/csync-XXXXXX", path[512];
    CHECK(mkdtemp(folder) != NULL);
    const ld_sync *laptop = open_device(folder), *phone = open_device(folder);

    CHECK(publish(laptop, "theme", text("dark")) == LD_OK);
    CHECK(publish(laptop, "empty", text("")) == LD_OK);
    fetched first = fetch(phone, NULL, 1);
    CHECK(strcmp(first.records, "laptop/theme=dark;") == 0);
    fetched second = fetch(phone, &first, 100);
    CHECK(strcmp(second.records, "laptop/empty=;") == 0);
    CHECK(strcmp(fetch(phone, &second, 100).records, "") == 0);

    ld_bytes name = text("theme");
    CHECK(phone->remove(phone->self, text("laptop"), &name, 1, &error) == LD_OK);
    CHECK(strcmp(fetch(phone, NULL, 100).records, "laptop/empty=;") == 0);
    CHECK(publish(laptop, "large", (ld_bytes){folder, laptop->largest_record + 1}) == LD_FAILED);
    CHECK(code == LD_ERROR_VALUE_TOO_LARGE);

    fetched lost = second;
    lost.position[9] ^= 1;
    ld_sink sink = {.size = sizeof(sink), .context = &lost, .write = take_position};
    ld_bytes position = {lost.position, lost.position_count};
    CHECK(phone->fetch(phone->self, position, &lost, take, &sink, &error) == LD_FAILED);
    CHECK(code == LD_ERROR_POSITION_LOST);

    atomic_int notices = 0;
    ld_sync_subscriber subscriber = {.size = sizeof(subscriber), .context = &notices, .notify = notify};
    void *token = NULL;
    CHECK(phone->subscribe(phone->self, &subscriber, &token, &error) == LD_OK);
    CHECK(publish(laptop, "theme", text("light")) == LD_OK);
    for (int i = 0; i < 5000 && atomic_load(&notices) == 0; i++) nanosleep(&(struct timespec){0, 1000000}, NULL);
    CHECK(atomic_load(&notices) > 0);
    phone->unsubscribe(phone->self, token);
    int count = atomic_load(&notices);
    CHECK(publish(laptop, "theme", text("dark")) == LD_OK && atomic_load(&notices) == count);
    CHECK(strcmp(fetch(phone, &second, 100).records, "laptop/theme=light;laptop/theme=dark;") == 0);

    laptop->close(laptop->self);
    phone->close(phone->self);
    snprintf(path, sizeof(path), "%s/deep/csync.log", folder);
    CHECK(unlink(path) == 0);
    snprintf(path, sizeof(path), "%s/deep", folder);
    CHECK(rmdir(path) == 0 && rmdir(folder) == 0);
    printf("CSync: the test passed\n");
    return 0;
}
