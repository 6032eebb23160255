/* Lets a C program call a plugin without any host. */
#ifndef BENCHMARK_PLUGIN_H
#define BENCHMARK_PLUGIN_H

#include <localdata/plugin.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline _Noreturn void fail(const char *message) {
    fprintf(stderr, "error: %s\n", message);
    exit(1);
}

static inline double nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline void report(void *context, ld_error_code code, ld_bytes message, ld_bytes hint) {
    (void)context, (void)hint;
    fprintf(stderr, "reported: %d: %.*s\n", code, (int)message.count, (const char *)message.data);
}

static const ld_error_sink errors = {.size = sizeof(errors), .report = report};

static inline const void *no_extension(void *context, ld_bytes id) {
    (void)context, (void)id;
    return NULL;
}

static inline const ld_plugin *open_plugin(const char *library) {
    void *image = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (image == NULL) fail(dlerror());
    const void *symbol = dlsym(image, "localdata_plugin_v1");
    if (symbol == NULL) fail("the library has no entry");
    const void *(*entry)(void);
    memcpy(&entry, &symbol, sizeof(entry));
    return entry();
}

/* The table of the component's kind: ld_store or ld_crypto. */
static inline const void *open_component(const char *library, const char *id, const char *options) {
    static const ld_host host = {
        .size = sizeof(host), .name = {"bench", 5}, .version = {"1", 1}, .extension = no_extension};
    const ld_plugin *plugin = open_plugin(library);
    for (size_t i = 0; i < plugin->component_count; i++) {
        const ld_component *component = plugin->components[i];
        if (component->id.count != strlen(id) || memcmp(component->id.data, id, component->id.count) != 0) continue;
        const void *table = NULL;
        const ld_bytes json = {options, strlen(options)};
        if (component->open(component->context, &host, json, &table, &errors) != LD_OK) fail("open failed");
        return table;
    }
    fail("the plugin has no such component");
}

static inline void *resolve_name(const ld_store *store, const char *name) {
    const ld_namespace place = {.size = sizeof(place), .domain = {"bench", 5}};
    const ld_address address = {.size = sizeof(address), .place = &place, .name = {name, strlen(name)}};
    void *handle = NULL;
    if (store->resolve(store->self, &address, &handle, &errors) != LD_OK) fail("resolve failed");
    return handle;
}

#endif
