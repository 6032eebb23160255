/* CBackend's own test: uses the plugin as a host does, through the table that its entry returns. */
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

/* The pieces that a sink received, each followed by a bar. */
typedef struct collected {
    char text[256];
    size_t count;
} collected;

static int32_t collect(void *context, ld_bytes bytes) {
    collected *collected = context;
    CHECK(collected->count + bytes.count + 2 <= sizeof(collected->text));
    if (bytes.count > 0) memcpy(collected->text + collected->count, bytes.data, bytes.count);
    collected->count += bytes.count;
    collected->text[collected->count++] = '|';
    collected->text[collected->count] = 0;
    return 0;
}

static void complain(void *context, ld_error_code code, ld_bytes message, ld_bytes hint) {
    (void)context, (void)hint;
    fprintf(stderr, "error %d: %.*s\n", (int)code, (int)message.count, (const char *)message.data);
}

static const ld_error_sink error = {.size = sizeof(error), .context = NULL, .report = complain};

static const void *no_service(void *context, ld_bytes id) {
    (void)context, (void)id;
    return NULL;
}

int main(void) {
    const ld_plugin *plugin = localdata_plugin_v1();
    CHECK(plugin->magic == LD_MAGIC && plugin->component_count == 1);
    const ld_component *component = plugin->components[0];
    ld_host host = {.size = sizeof(host), .name = text("test"), .version = text("1"), .extension = no_service};
    const void *opened = NULL;
    CHECK(component->open(component->context, &host, text("{}"), &opened, &error) == LD_OK);
    const ld_store *store = opened;

    ld_namespace place = {.size = sizeof(place), .domain = text("userDefaults")};
    const char *keys[] = {"theme", "name", "other"};
    void *handles[3];
    for (int i = 0; i < 3; i++) {
        ld_address address = {.size = sizeof(address), .place = &place, .name = text(keys[i])};
        CHECK(store->resolve(store->self, &address, &handles[i], &error) == LD_OK);
    }

    collected found = {"", 0};
    ld_sink sink = {.size = sizeof(sink), .context = &found, .write = collect};
    CHECK(store->get(store->self, handles[0], &sink, &error) == LD_ABSENT && found.count == 0);
    CHECK(store->set(store->self, handles[0], text("light"), NULL, &error) == LD_OK);
    CHECK(store->set(store->self, handles[0], text("dark"), NULL, &error) == LD_OK);
    CHECK(store->get(store->self, handles[0], &sink, &error) == LD_OK && strcmp(found.text, "dark|") == 0);

    /* An empty value is stored, which is not the same as none. */
    CHECK(store->set(store->self, handles[1], text(""), NULL, &error) == LD_OK);
    CHECK(store->exists(store->self, handles[1], &error) == LD_OK);
    CHECK(store->exists(store->self, handles[2], &error) == LD_ABSENT);

    const ld_store_enumeration *enumeration = store->extension(store->self, text(LD_STORE_ENUMERATION));
    CHECK(enumeration != NULL && store->extension(store->self, text("no such ability/1")) == NULL);
    found = (collected){"", 0};
    CHECK(enumeration->names(store->self, &place, text(""), text(""), 0, &sink, &error) == LD_OK);
    CHECK(strcmp(found.text, "name|theme|") == 0);
    found = (collected){"", 0};
    CHECK(enumeration->names(store->self, &place, text(""), text("name"), 1, &sink, &error) == LD_OK);
    CHECK(strcmp(found.text, "theme|") == 0);

    CHECK(store->remove(store->self, handles[0], &error) == LD_OK);
    CHECK(store->remove(store->self, handles[0], &error) == LD_ABSENT);
    CHECK(store->exists(store->self, handles[0], &error) == LD_ABSENT);
    for (int i = 0; i < 3; i++) store->release(store->self, handles[i]);
    store->close(store->self);
    puts("CBackend: the test passed");
    return 0;
}
