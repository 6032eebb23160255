/*
 * Uses the plugin without any host, in whatever environment it is started with.
 *
 *     store LIBRARY OPTIONS get|set|remove|exists DOMAIN SCOPE NAME    the value is standard input or output
 *     store LIBRARY OPTIONS write NAME... COUNT                        writes COUNT values to the names in turn
 *
 * Ends with 0, with 1 for a value that is not there, with 2 for a failure, which is written to standard error as its code
 * and its message, and with 3 if the plugin has changed what happens at SIGPIPE. `write` ends with 4 if what it reads
 * after a write is not one whole value, and with 5 if nobody else writes the name and it is not the one just written.
 */
#include "plugin.h"

#include <signal.h>
#include <unistd.h>

typedef struct {
    char *bytes;
    size_t count;
} text;

static int32_t take(void *context, ld_bytes bytes) {
    text *result = context;
    result->bytes = realloc(result->bytes, bytes.count + 1);
    memcpy(result->bytes, bytes.data, bytes.count);
    result->count = bytes.count;
    return 0;
}

static void *resolve(const ld_store *store, const char *domain, const char *scope, const char *name) {
    const ld_namespace place = {
        .size = sizeof(place), .domain = {domain, strlen(domain)}, .scope = {scope, strlen(scope)}};
    const ld_address address = {.size = sizeof(address), .place = &place, .name = {name, strlen(name)}};
    void *handle = NULL;
    if (store->resolve(store->self, &address, &handle, &errors) != LD_OK) exit(2);
    return handle;
}

static text read_all(void) {
    text input = {malloc(1), 0};
    char piece[65536];
    ssize_t count;
    while ((count = read(STDIN_FILENO, piece, sizeof(piece))) > 0) {
        input.bytes = realloc(input.bytes, input.count + (size_t)count);
        memcpy(input.bytes + input.count, piece, (size_t)count);
        input.count += (size_t)count;
    }
    return input;
}

static int is_whole(text value) {
    char writer[16];
    int number, length = 0;
    if (sscanf(value.bytes, "<%15[^ ] %d>%n", writer, &number, &length) != 2 || length == 0) return 0;
    for (size_t i = 0; i < value.count; i++) {
        if (value.bytes[i] != value.bytes[i % (size_t)length]) return 0;
    }
    return value.count == (size_t)length * 20;
}

static int write_many(const ld_store *store, char **names, int count, int rounds) {
    const int is_shared = strcmp(names[0], "shared") == 0;
    for (int round = 0; round < rounds; round++) {
        void *handle = resolve(store, "keychain", "crowd", names[round % count]);
        char part[64], value[2048] = "";
        snprintf(part, sizeof(part), "<%d %d>", (int)getpid(), round);
        for (int i = 0; i < 20; i++) strcat(value, part);
        const ld_bytes bytes = {value, strlen(value)};
        if (store->set(store->self, handle, bytes, NULL, &errors) != LD_OK) return 2;
        text found = {NULL, 0};
        const ld_sink sink = {.size = sizeof(sink), .context = &found, .write = take};
        if (store->get(store->self, handle, &sink, &errors) != LD_OK) return 2;
        found.bytes[found.count] = 0;
        if (!is_whole(found)) return 4;
        if (!is_shared && strcmp(found.bytes, value) != 0) return 5;
        free(found.bytes);
        store->release(store->self, handle);
    }
    return 0;
}

static int act(const ld_store *store, const char *action, void *handle) {
    ld_status status = LD_FAILED;
    if (strcmp(action, "get") == 0) {
        text value = {NULL, 0};
        const ld_sink sink = {.size = sizeof(sink), .context = &value, .write = take};
        status = store->get(store->self, handle, &sink, &errors);
        if (status == LD_OK && fwrite(value.bytes, 1, value.count, stdout) != value.count) fail("output");
    } else if (strcmp(action, "set") == 0) {
        const text value = read_all();
        const ld_bytes bytes = {value.bytes, value.count};
        status = store->set(store->self, handle, bytes, NULL, &errors);
    } else if (strcmp(action, "remove") == 0) {
        status = store->remove(store->self, handle, &errors);
    } else if (strcmp(action, "exists") == 0) {
        status = store->exists(store->self, handle, &errors);
    } else {
        fail("no such action");
    }
    return status == LD_OK ? 0 : status == LD_ABSENT ? 1 : 2;
}

int main(int argc, char **argv) {
    if (argc < 6) fail("usage: store LIBRARY OPTIONS ACTION NAMES...");
    const ld_store *store = open_component(argv[1], "secret-service", argv[2]);
    const int result = strcmp(argv[3], "write") == 0
        ? write_many(store, argv + 4, argc - 5, atoi(argv[argc - 1]))
        : act(store, argv[3], resolve(store, argv[4], argv[5], argv[6]));
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler != SIG_DFL) return 3;
    return result;
}
