/*
 * Keeps values in a store through its plugin's table, with the operations of sqlite.c: store LIBRARY COMPONENT OPTIONS
 *
 * Besides those:
 *
 *   list COUNT 0        lists the names with the prefix "key-", which have to be so many; nanoseconds of one
 *   memory 0 0          KiB of this process that are in memory
 */
#include "plugin.h"

#include <unistd.h>

static const ld_store *store;
static const ld_attributes attributes = {
    .size = sizeof(attributes), .content_type = {"application/octet-stream", 24}, .serializer = {"data", 4},
    .owner = {"Benchmarks", 10}};

static const void *ability(const char *id) {
    const void *table = store->extension(store->self, (ld_bytes){id, strlen(id)});
    if (table == NULL) fail(id);
    return table;
}

static void *resolve(long index) {
    char name[32];
    snprintf(name, sizeof(name), "key-%07ld", index);
    return resolve_name(store, name);
}

static int32_t take(void *context, ld_bytes bytes) {
    unsigned char *copy = malloc(bytes.count);
    if (copy == NULL) return 1;
    memcpy(copy, bytes.data, bytes.count);
    *(size_t *)context += bytes.count;
    __asm__ volatile("" : : "r"(copy) : "memory");
    free(copy);
    return 0;
}

static int32_t count_name(void *context, ld_bytes bytes) {
    (void)bytes;
    ++*(long *)context;
    return 0;
}

static void apply(void **handles, size_t count, ld_bytes value) {
    static const ld_store_batch *batch;
    if (batch == NULL) batch = ability(LD_STORE_BATCH);
    ld_operation *operations = calloc(count, sizeof(*operations));
    const ld_operation **pointers = calloc(count, sizeof(*pointers));
    if (operations == NULL || pointers == NULL) fail("no memory");
    for (size_t i = 0; i < count; i++) {
        operations[i] = (ld_operation){
            .size = sizeof(*operations), .handle = handles[i], .value = value, .attributes = &attributes};
        pointers[i] = &operations[i];
    }
    if (batch->apply(store->self, pointers, count, &errors) != LD_OK) fail("apply failed");
    free(operations);
    free(pointers);
}

/* Resolves values and applies them in batches of at most 10,000. */
static void fill(long count, ld_bytes value) {
    enum { most = 10000 };
    void *handles[most];
    for (long start = 0; start < count; start += most) {
        const long size = count - start < most ? count - start : most;
        for (long i = 0; i < size; i++) handles[i] = resolve(start + i);
        apply(handles, (size_t)size, value);
        for (long i = 0; i < size; i++) store->release(store->self, handles[i]);
    }
}

static double get(long names, long times) {
    void **handles = calloc((size_t)times, sizeof(*handles));
    if (handles == NULL) fail("no memory");
    for (long i = 0; i < times; i++) handles[i] = resolve(i * 7919 % names);
    size_t total = 0;
    const ld_sink sink = {.size = sizeof(sink), .context = &total, .write = take};
    const double start = nanoseconds();
    for (long i = 0; i < times; i++) {
        if (store->get(store->self, handles[i], &sink, &errors) != LD_OK) fail("get failed");
    }
    const double time = nanoseconds() - start;
    for (long i = 0; i < times; i++) store->release(store->self, handles[i]);
    free(handles);
    return time / (double)times;
}

static double list(long expected) {
    const ld_store_enumeration *enumeration = ability(LD_STORE_ENUMERATION);
    const ld_namespace place = {.size = sizeof(place), .domain = {"bench", 5}};
    long count = 0;
    const ld_sink sink = {.size = sizeof(sink), .context = &count, .write = count_name};
    const double start = nanoseconds();
    if (enumeration->names(store->self, &place, (ld_bytes){"key-", 4}, (ld_bytes){0}, 0, &sink, &errors) != LD_OK) {
        fail("names failed");
    }
    if (count != expected) fail("the listing has another number of names");
    return (nanoseconds() - start) / (double)count;
}

static double memory(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) fail("/proc/self/statm");
    fclose(file);
    return (double)(pages * sysconf(_SC_PAGESIZE) / 1024);
}

static double batches(long size, long times, ld_bytes value) {
    (void)size;
    void *handles[1000];
    for (long i = 0; i < 1000; i++) handles[i] = resolve(i);
    const double start = nanoseconds();
    for (long i = 0; i < times; i++) apply(handles, 1000, value);
    const double time = nanoseconds() - start;
    for (long i = 0; i < 1000; i++) store->release(store->self, handles[i]);
    return time / (double)times;
}

int main(int argc, char **argv) {
    if (argc != 4) fail("usage: store LIBRARY COMPONENT OPTIONS");
    store = open_component(argv[1], argv[2], argv[3]);
    char action[8], value[16384];
    memset(value, 7, sizeof(value));
    long first, second;
    while (scanf("%7s %ld %ld", action, &first, &second) == 3) {
        double result;
        const double start = nanoseconds();
        if (strcmp(action, "fill") == 0) {
            fill(first, (ld_bytes){value, (size_t)second});
            result = (nanoseconds() - start) / (double)first;
        } else if (strcmp(action, "get") == 0) {
            result = get(first, second);
        } else if (strcmp(action, "set") == 0) {
            void *handle = resolve_name(store, "set");
            for (long i = 0; i < second; i++) {
                if (store->set(store->self, handle, (ld_bytes){value, (size_t)first}, &attributes, &errors) != LD_OK) {
                    fail("set failed");
                }
            }
            result = (nanoseconds() - start) / (double)second;
            store->release(store->self, handle);
        } else if (strcmp(action, "batch") == 0) {
            result = batches(first, second, (ld_bytes){value, (size_t)first});
        } else if (strcmp(action, "open") == 0) {
            for (long i = 0; i < second; i++) {
                store->close(store->self);
                store = open_component(argv[1], argv[2], argv[3]);
                get(first, 1);
            }
            result = (nanoseconds() - start) / (double)second;
        } else if (strcmp(action, "list") == 0) {
            result = list(first);
        } else {
            result = memory();
        }
        printf("%.1f\n", result);
        fflush(stdout);
    }
    return 0;
}
