/*
 * A storage plugin in plain C that processes share: one file a value, named by a digest of its address. Tests build it
 * in variants that each break one rule of two processes or of the C boundary:
 *
 *     cc -std=c11 -shared -fPIC -I Sources/LocalDataAPI/CLocalData/include -DBROKEN_... shared.c -o libShared.so
 *
 * It calls itself durable and does not sync: tests can kill a process, not the power.
 */
#define _GNU_SOURCE
#include <localdata/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT(literal) {literal, sizeof(literal) - 1}

typedef struct watch {
    struct watch *next;
    ld_watcher watcher;
} watch;

/* A value that is not in its file, or not only there. */
typedef struct kept {
    struct kept *next;
    char path[4096 + 64];
    void *data;
    size_t count;
} kept;

typedef struct {
    ld_store table;
    char root[4096];
    pthread_mutex_t lock; /* of this process; between processes, renames are atomic */
    pthread_mutex_t telling;
    watch *watches;
    kept *cache;  /* of a variant that reads a file once */
    kept *buffer; /* of a variant that writes some values later */
    pthread_t teller;
    int is_telling, inotify, end;
} shared_store;

typedef struct {
    char path[4096 + 64];
} entry;

static ld_status fail(const ld_error_sink *error, const char *what) {
    char message[256];
    int count = snprintf(message, sizeof message, "%s: %s", what, strerror(errno));
    if (error != NULL) error->report(error->context, LD_ERROR_FILE, (ld_bytes){message, (size_t)count}, (ld_bytes){0});
    return LD_FAILED;
}

static uint64_t digest(uint64_t state, ld_bytes bytes) {
    const unsigned char *data = bytes.data;
    for (size_t i = 0; i < bytes.count; i++) state = (state ^ data[i]) * 0x100000001b3u;
    return (state ^ bytes.count) * 0x100000001b3u;
}

static ld_status resolve(void *self, const ld_address *address, void **handle, const ld_error_sink *error) {
    shared_store *store = self;
    const ld_bytes parts[3] = {address->place->domain, address->place->scope, address->name};
    uint64_t first = 0xcbf29ce484222325u, second = 0x84222325cbf29ce4u;
#ifdef BROKEN_SIZES
    /* Rejects structs that are larger than its own, such as those of a later host. */
    if (address->size != sizeof *address || address->place->size != sizeof *address->place) {
        return fail(error, "an address has an unknown size");
    }
#else
    (void)error;
#endif
    for (int i = 0; i < 3; i++) first = digest(first, parts[i]);
    for (int i = 2; i >= 0; i--) second = digest(second, parts[i]);
    entry *found = calloc(1, sizeof *found);
    snprintf(found->path, sizeof found->path, "%s/%016llx%016llx", store->root, (unsigned long long)first,
             (unsigned long long)second);
    *handle = found;
    return LD_OK;
}

static void release(void *self, void *handle) {
    (void)self;
    free(handle);
}

/* Reads a whole file: returns 1, 0 if it is absent, -1 on failure. */
static int read_file(const char *path, void **data, size_t *count) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno == ENOENT ? 0 : -1;
    struct stat status;
    if (fstat(file, &status) != 0) return -1;
    *data = malloc((size_t)status.st_size + 1);
    *count = 0;
    for (ssize_t part; (part = read(file, (char *)*data + *count, (size_t)status.st_size - *count)) > 0;) {
        *count += (size_t)part;
    }
    close(file);
    return 1;
}

static int write_all(int file, const void *data, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t part = write(file, (const char *)data + done, count - done);
        if (part < 0) return -1;
        done += (size_t)part;
    }
    return 0;
}

/* Only some variants keep anything. */
__attribute__((unused)) static kept *keep(kept *list, const char *path, const void *data, size_t count) {
    kept *one = calloc(1, sizeof *one);
    one->next = list;
    snprintf(one->path, sizeof one->path, "%s", path);
    one->data = malloc(count + 1);
    memcpy(one->data, data, one->count = count);
    return one;
}

static kept *find(kept *list, const char *path) {
    while (list != NULL && strcmp(list->path, path) != 0) list = list->next;
    return list;
}

static kept *drop(kept *list, const char *path) {
    kept *one = find(list, path);
    if (one == NULL) return list;
    kept **place = &list;
    while (*place != one) place = &(*place)->next;
    *place = one->next;
    free(one->data);
    free(one);
    return list;
}

static int put(shared_store *store, const char *path, const void *data, size_t count) {
#ifdef BROKEN_IN_PLACE
    /* Truncates first and writes the halves apart. Threads of this process wait for each other; others do not. */
    (void)store;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    int result = write_all(file, data, count / 2);
    for (int i = 0; i < 20; i++) sched_yield();
    if (result == 0) result = write_all(file, (const char *)data + count / 2, count - count / 2);
    close(file);
    return result;
#else
    char temporary[sizeof store->root + 64];
#ifdef BROKEN_TEMPORARY
    /* The name is the same in every process. */
    snprintf(temporary, sizeof temporary, "%s/.new", store->root);
#else
    snprintf(temporary, sizeof temporary, "%s/.new-%d", store->root, (int)getpid());
#endif
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    int result = write_all(file, data, count);
    close(file);
#ifdef BROKEN_TEMPORARY
    for (int i = 0; i < 20; i++) sched_yield();
#endif
    return result == 0 ? rename(temporary, path) : -1;
#endif
}

/* Writes the values that a variant has delayed. */
static void flush(shared_store *store) {
    while (store->buffer != NULL) {
        put(store, store->buffer->path, store->buffer->data, store->buffer->count);
        store->buffer = drop(store->buffer, store->buffer->path);
    }
}

static ld_status get(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    shared_store *store = self;
    entry *key = handle;
    void *data = NULL;
    size_t count = 0;
    pthread_mutex_lock(&store->lock);
    flush(store);
    kept *cached = find(store->cache, key->path);
    int found = 1;
    if (cached != NULL) {
        data = malloc(cached->count + 1);
        memcpy(data, cached->data, count = cached->count);
    } else {
        found = read_file(key->path, &data, &count);
#ifdef BROKEN_CACHES
        if (found == 1) store->cache = keep(store->cache, key->path, data, count);
#endif
    }
    pthread_mutex_unlock(&store->lock);
    if (found < 0) return fail(error, "a value cannot be read");
    if (found == 0) return LD_ABSENT;
    int32_t stop = sink->write(sink->context, (ld_bytes){data, count});
    free(data);
#ifdef BROKEN_STOPS
    stop = 0;
#endif
    return stop == 0 ? LD_OK : LD_STOPPED;
}

static ld_status exists(void *self, void *handle, const ld_error_sink *error) {
    (void)error;
    shared_store *store = self;
    entry *key = handle;
    pthread_mutex_lock(&store->lock);
    flush(store);
    pthread_mutex_unlock(&store->lock);
    return access(key->path, F_OK) == 0 ? LD_OK : LD_ABSENT;
}

static void tell(shared_store *store) {
    pthread_mutex_lock(&store->telling);
    for (watch *one = store->watches; one != NULL; one = one->next) {
        one->watcher.changed(one->watcher.context, (ld_bytes){0});
    }
    pthread_mutex_unlock(&store->telling);
}

static ld_status set(
    void *self, void *handle, ld_bytes value, const ld_attributes *attributes, const ld_error_sink *error) {
    (void)attributes;
    shared_store *store = self;
    entry *key = handle;
    int result = 0;
    pthread_mutex_lock(&store->lock);
    flush(store);
    store->cache = drop(store->cache, key->path);
#ifdef BROKEN_BUFFERS
    if (value.count == 100) store->buffer = keep(NULL, key->path, value.data, value.count);
    else
#endif
        result = put(store, key->path, value.data, value.count);
    pthread_mutex_unlock(&store->lock);
    if (result != 0) return fail(error, "a value cannot be written");
#ifdef BROKEN_DEAF
    tell(store);
#endif
#ifdef BROKEN_REPORTS
    /* Only for one size: the host refuses such an answer everywhere. */
    if (value.count == 4321 && error != NULL) {
        error->report(error->context, LD_ERROR_NOT_FOUND, (ld_bytes)TEXT("no value"), (ld_bytes){0});
    }
#endif
    return LD_OK;
}

static ld_status remove_value(void *self, void *handle, const ld_error_sink *error) {
    shared_store *store = self;
    entry *key = handle;
#ifdef CRASHES
    abort();
#endif
#ifdef HANGS
    for (;;) pause();
#endif
    pthread_mutex_lock(&store->lock);
    flush(store);
    store->cache = drop(store->cache, key->path);
    int result = unlink(key->path);
    pthread_mutex_unlock(&store->lock);
    if (result != 0 && errno != ENOENT) return fail(error, "a value cannot be removed");
#ifdef BROKEN_DEAF
    tell(store);
#endif
    return result == 0 ? LD_OK : LD_ABSENT;
}

/* ------------------------------------------------------------------ watching: whatever changes in the folder ---- */

#ifndef BROKEN_DEAF
static void *watch_folder(void *self) {
    shared_store *store = self;
    struct pollfd wanted[2] = {{.fd = store->inotify, .events = POLLIN}, {.fd = store->end, .events = POLLIN}};
    char events[4096];
    for (;;) {
        if (poll(wanted, 2, -1) < 0 && errno != EINTR) return NULL;
        if (wanted[1].revents != 0) return NULL;
        if (wanted[0].revents != 0 && read(store->inotify, events, sizeof events) > 0) tell(store);
    }
}
#endif

static ld_status begin_watch(
    void *self, const ld_namespace *place, ld_bytes prefix, const ld_watcher *watcher, void **token,
    const ld_error_sink *error) {
    (void)place, (void)prefix, (void)error;
    shared_store *store = self;
    watch *one = calloc(1, sizeof *one);
    one->watcher = *watcher;
    pthread_mutex_lock(&store->telling);
    one->next = store->watches;
    store->watches = one;
#ifndef BROKEN_DEAF
    if (!store->is_telling) {
        store->inotify = inotify_init1(IN_CLOEXEC);
        store->end = eventfd(0, EFD_CLOEXEC);
        inotify_add_watch(store->inotify, store->root, IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE);
        store->is_telling = pthread_create(&store->teller, NULL, watch_folder, store) == 0;
    }
#endif
    pthread_mutex_unlock(&store->telling);
    *token = one;
    return LD_OK;
}

static void end_watch(void *self, void *token) {
    shared_store *store = self;
    pthread_mutex_lock(&store->telling);
    for (watch **place = &store->watches; *place != NULL; place = &(*place)->next) {
        if (*place == token) {
            *place = (*place)->next;
            break;
        }
    }
    pthread_mutex_unlock(&store->telling);
    free(token);
}

static const ld_store_watch watching = {sizeof watching, begin_watch, end_watch};

/* An ability that no host knows. To call a function of it crashes. */
static const struct {
    uint32_t size;
    void *functions[2];
} unknown = {.size = sizeof unknown, .functions = {(void *)16, (void *)16}};

static int is_id(ld_bytes id, const char *other) {
    return id.count == strlen(other) && memcmp(id.data, other, id.count) == 0;
}

static const void *find_ability(void *self, ld_bytes id) {
    (void)self;
    if (is_id(id, LD_STORE_WATCH)) return &watching;
    if (is_id(id, "example.unknown/1") || is_id(id, "localdata.store.tagged/1")) return &unknown;
#ifdef BROKEN_ABILITIES
    /* Offers every ability that no current host asks for. */
    if (id.count < 20) return &watching;
#endif
    return NULL;
}

static void close_store(void *self) {
    shared_store *store = self;
    flush(store);
    while (store->cache != NULL) store->cache = drop(store->cache, store->cache->path);
    if (store->is_telling) {
        uint64_t one = 1;
        if (write(store->end, &one, sizeof one) == sizeof one) pthread_join(store->teller, NULL);
        close(store->inotify);
        close(store->end);
    }
    free(store);
}

/* The value of "root", which the host has filled in; the tests' folders need no escapes but "\/". */
static ld_status open_store(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)host;
    static const char mark[] = "\"root\":\"";
    const char *text = options.data, *end = text + options.count;
    const char *start = memmem(text, options.count, mark, sizeof mark - 1);
    shared_store *store = calloc(1, sizeof *store);
    if (start == NULL) return fail(error, "the option 'root' is missing");
    size_t count = 0;
    for (const char *at = start + sizeof mark - 1; at < end && *at != '"' && count < 4000; at++) {
        if (*at == '\\') continue;
        store->root[count++] = *at;
        if (*at == '/') mkdir(store->root, 0700);
    }
    mkdir(store->root, 0700);
    pthread_mutex_init(&store->lock, NULL);
    pthread_mutex_init(&store->telling, NULL);
    store->table = (ld_store){
        .size = sizeof store->table, .latency = LD_LATENCY_DISK, .flags = LD_STORE_DURABLE | LD_STORE_SHARED,
        .self = store, .resolve = resolve, .release = release, .get = get, .exists = exists, .set = set,
        .remove = remove_value, .extension = find_ability, .close = close_store,
    };
    *table = &store->table;
    return LD_OK;
}

static const ld_component component = {
    .size = sizeof component, .kind = LD_KIND_STORAGE, .id = TEXT("shared"),
    .summary = TEXT("keeps values in files that processes share, for tests"),
    .options = TEXT("[{\"name\":\"root\",\"type\":\"path\",\"default\":\"${data}/values\",\"help\":\"the folder\"}]"),
    .open = open_store,
};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof plugin, .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("Shared"), .version = TEXT("1.0.0"), .components = components, .component_count = 1,
};

LD_EXPORT const void *localdata_plugin_v1(void) { return &plugin; }
