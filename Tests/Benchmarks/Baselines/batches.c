/*
 * Applies batches through a store plugin's table: batches LIBRARY COMPONENT OPTIONS
 *
 * Reads lines "batch SIZE COUNT" from standard input and answers each with the nanoseconds of one batch that sets so
 * many values, always the same names.
 */
#include "plugin.h"

static ld_bytes bytes(const char *text) {
    return (ld_bytes){text, strlen(text)};
}

static double apply(const ld_store *store, const ld_store_batch *batch, size_t size, size_t count) {
    const ld_attributes attributes = {
        .size = sizeof(attributes), .content_type = bytes("application/octet-stream"), .serializer = bytes("data"),
        .owner = bytes("Benchmarks")};
    unsigned char *value = malloc(size + 1);
    ld_operation *changes = calloc(count, sizeof(*changes));
    const ld_operation **operations = calloc(count, sizeof(const ld_operation *));
    if (value == NULL || changes == NULL || operations == NULL) fail("no memory");
    memset(value, 7, size);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "value-%zu", i);
        changes[i] = (ld_operation){
            .size = sizeof(ld_operation), .handle = resolve_name(store, name), .value = {value, size},
            .attributes = &attributes};
        operations[i] = &changes[i];
    }
    const double start = nanoseconds();
    if (batch->apply(store->self, operations, count, &errors) != LD_OK) fail("apply failed");
    const double end = nanoseconds();
    for (size_t i = 0; i < count; i++) store->release(store->self, changes[i].handle);
    free(operations);
    free(changes);
    free(value);
    return end - start;
}

int main(int argc, char **argv) {
    if (argc != 4) fail("usage: batches LIBRARY COMPONENT OPTIONS");
    const ld_store *store = open_component(argv[1], argv[2], argv[3]);
    const ld_store_batch *batch = store->extension(store->self, bytes(LD_STORE_BATCH));
    if (batch == NULL) fail("the store has no batches");
    char action[8];
    size_t size, count;
    while (scanf("%7s %zu %zu", action, &size, &count) == 3) {
        printf("%.1f\n", apply(store, batch, size, count));
        fflush(stdout);
    }
    return 0;
}
