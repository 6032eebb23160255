/*
 * Calls a store plugin's table directly: boundary LIBRARY COMPONENT CALLS
 *
 * Prints the nanoseconds of one `get` of 128 bytes. Under callgrind, the difference between two counts of calls gives
 * the instructions of one call, which do not depend on the machine's load.
 */
#include "plugin.h"

static int32_t take(void *context, ld_bytes bytes) {
    unsigned char *copy = malloc(bytes.count);
    if (copy == NULL) return 1;
    memcpy(copy, bytes.data, bytes.count);
    *(size_t *)context += bytes.count;
    __asm__ volatile("" : : "r"(copy) : "memory");
    free(copy);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4) fail("usage: boundary LIBRARY COMPONENT CALLS");
    const long calls = atol(argv[3]);
    const ld_store *store = open_component(argv[1], argv[2], "{}");
    void *handle = resolve_name(store, "value");
    unsigned char value[128] = {7};
    const ld_bytes bytes = {value, sizeof(value)};
    if (store->set(store->self, handle, bytes, NULL, &errors) != LD_OK) fail("set failed");

    size_t total = 0;
    const ld_sink sink = {.size = sizeof(sink), .context = &total, .write = take};
    const double start = nanoseconds();
    for (long call = 0; call < calls; call++) {
        if (store->get(store->self, handle, &sink, &errors) != LD_OK) fail("get failed");
    }
    const double end = nanoseconds();
    if (total != (size_t)calls * sizeof(value)) fail("the store gave something else");
    printf("%.1f\n", (end - start) / (double)calls);
    return 0;
}
