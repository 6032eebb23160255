/*
 * CBackend, a storage plugin in C: keeps values in memory until the process ends.
 *
 * It is complete: every configured store has its own values, any number of threads may use it at once, names
 * can be listed. localdata/plugin.h says what each function owes to its caller.
 */
#define _DEFAULT_SOURCE /* explicit_bzero(3) */
#include <localdata/plugin.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- what a store is made of ------------------------ */

/* Immutable bytes. A reader holds a reference, and no lock, while it hands them out. */
typedef struct value {
    atomic_size_t references;
    size_t count;
    unsigned char bytes[];
} value;

/* An address that holds a value or that a caller has a handle of. The handle is the entry itself. */
typedef struct entry {
    struct entry *next;
    size_t hash;
    size_t handles; /* resolved and not released */
    value *value;   /* NULL: nothing is stored */
    size_t place;   /* the bytes of `key` before the name */
    size_t count;   /* the bytes of `key` */
    char key[];     /* domain, 0, scope, 0, name; none of them contains a 0 */
} entry;

typedef struct store {
    ld_store table; /* what the host sees; its `self` is this struct */
    pthread_mutex_t lock;
    entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t entry_count;
} store;

#define FIRST_BUCKETS 64

/* ---------------------------------------------------------------- small parts ------------------------------------ */

static ld_bytes text(const char *string) { return (ld_bytes){string, strlen(string)}; }

static int equals(ld_bytes bytes, const char *string) {
    return bytes.count == strlen(string) && memcmp(bytes.data, string, bytes.count) == 0;
}

/* Reports a failure, once, with the object's name. Values never appear in messages. */
static ld_status fail(const ld_error_sink *error, ld_error_code code, const char *what, ld_bytes name) {
    char message[1400];
    int limit = name.count < 1024 ? (int)name.count : 1024;
    snprintf(message, sizeof(message), "'%.*s': %s", limit, limit > 0 ? (const char *)name.data : "", what);
    if (error != NULL) error->report(error->context, code, text(message), text("free some memory and try again"));
    return LD_FAILED;
}

static ld_bytes name_of(const entry *entry) {
    return (ld_bytes){entry->key + entry->place, entry->count - entry->place};
}

static void let_go(value *value) {
    if (value == NULL || atomic_fetch_sub(&value->references, 1) != 1) return;
    explicit_bzero(value->bytes, value->count); /* it may have been a secret */
    free(value);
}

/* Copies `bytes` to `end` and returns where they end there; an empty ld_bytes may have no address. */
static char *put(char *end, ld_bytes bytes) {
    if (bytes.count > 0) memcpy(end, bytes.data, bytes.count);
    return end + bytes.count;
}

/* Writes domain, 0, scope, 0 to `key`, which has room for that. */
static char *put_place(char *key, const ld_namespace *place) {
    char *end = put(key, place->domain);
    *end++ = 0;
    end = put(end, place->scope);
    *end++ = 0;
    return end;
}

static size_t place_count(const ld_namespace *place) { return place->domain.count + place->scope.count + 2; }

/* FNV-1a. */
static size_t hash_of(const char *key, size_t count) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < count; i++) hash = (hash ^ (unsigned char)key[i]) * 1099511628211u;
    return (size_t)hash;
}

/* ---------------------------------------------------------------- the table of entries, under the lock ----------- */

static entry **bucket(store *store, size_t hash) { return &store->buckets[hash & (store->bucket_count - 1)]; }

/* Doubles the buckets. Without memory for that the table stays as it is: slower, but right. */
static void grow(store *store) {
    entry **old = store->buckets, **buckets = calloc(store->bucket_count * 2, sizeof(entry *));
    size_t old_count = store->bucket_count;
    if (buckets == NULL) return;
    store->buckets = buckets;
    store->bucket_count = old_count * 2;
    for (size_t i = 0; i < old_count; i++) {
        for (entry *entry = old[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            struct entry **first = bucket(store, entry->hash);
            entry->next = *first;
            *first = entry;
        }
    }
    free(old);
}

static void drop(store *store, entry *entry) {
    struct entry **link = bucket(store, entry->hash);
    while (*link != entry) link = &(*link)->next;
    *link = entry->next;
    store->entry_count--;
    free(entry);
}

/* ---------------------------------------------------------------- ld_store --------------------------------------- */

static ld_status resolve(void *self, const ld_address *address, void **handle, const ld_error_sink *error) {
    store *store = self;
    size_t place = place_count(address->place), count = place + address->name.count;
    entry *made = malloc(sizeof(entry) + count);
    if (made == NULL) return fail(error, LD_ERROR_NO_SPACE, "there is no memory for its address", address->name);
    put(put_place(made->key, address->place), address->name);
    made->hash = hash_of(made->key, count);
    made->handles = 0;
    made->value = NULL;
    made->place = place;
    made->count = count;

    pthread_mutex_lock(&store->lock);
    entry *found = *bucket(store, made->hash);
    while (found != NULL && (found->count != count || memcmp(found->key, made->key, count) != 0)) found = found->next;
    if (found == NULL) {
        if (store->entry_count >= store->bucket_count) grow(store);
        entry **first = bucket(store, made->hash);
        found = made;
        made = NULL;
        found->next = *first;
        *first = found;
        store->entry_count++;
    }
    found->handles++;
    pthread_mutex_unlock(&store->lock);
    free(made);
    *handle = found;
    return LD_OK;
}

static void release(void *self, void *handle) {
    store *store = self;
    entry *entry = handle;
    pthread_mutex_lock(&store->lock);
    if (--entry->handles == 0 && entry->value == NULL) drop(store, entry);
    pthread_mutex_unlock(&store->lock);
}

static ld_status get(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    store *store = self;
    (void)error;
    pthread_mutex_lock(&store->lock);
    value *value = ((entry *)handle)->value;
    if (value != NULL) atomic_fetch_add(&value->references, 1);
    pthread_mutex_unlock(&store->lock);
    if (value == NULL) return LD_ABSENT;
    int32_t stop = sink->write(sink->context, (ld_bytes){value->bytes, value->count});
    let_go(value);
    return stop == 0 ? LD_OK : LD_STOPPED;
}

static ld_status exists(void *self, void *handle, const ld_error_sink *error) {
    store *store = self;
    (void)error;
    pthread_mutex_lock(&store->lock);
    int is_stored = ((entry *)handle)->value != NULL;
    pthread_mutex_unlock(&store->lock);
    return is_stored ? LD_OK : LD_ABSENT;
}

/* Replaces the value, which may be NULL, and returns whether there was one before. */
static int replace(store *store, entry *entry, value *value) {
    pthread_mutex_lock(&store->lock);
    struct value *old = entry->value;
    entry->value = value;
    pthread_mutex_unlock(&store->lock);
    let_go(old);
    return old != NULL;
}

static ld_status set(
    void *self, void *handle, ld_bytes bytes, const ld_attributes *attributes, const ld_error_sink *error) {
    (void)attributes; /* a store that offers no LD_STORE_ATTRIBUTES ignores them */
    value *value = bytes.count <= SIZE_MAX / 2 ? malloc(sizeof(*value) + bytes.count) : NULL;
    if (value == NULL) return fail(error, LD_ERROR_NO_SPACE, "there is no memory for its value", name_of(handle));
    atomic_init(&value->references, 1);
    value->count = bytes.count;
    put((char *)value->bytes, bytes);
    replace(self, handle, value);
    return LD_OK;
}

static ld_status remove_value(void *self, void *handle, const ld_error_sink *error) {
    (void)error;
    return replace(self, handle, NULL) ? LD_OK : LD_ABSENT;
}

static void close_store(void *self) {
    store *store = self;
    for (size_t i = 0; i < store->bucket_count; i++) {
        for (entry *entry = store->buckets[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            let_go(entry->value);
            free(entry);
        }
    }
    pthread_mutex_destroy(&store->lock);
    free(store->buckets);
    free(store);
}

/* ---------------------------------------------------------------- enumeration ------------------------------------ */

/* Copies of keys or of parts of them, so that no lock is held while they are handed out. */
typedef struct list {
    struct item {
        size_t count;
        char *bytes;
    } *items;
    size_t count, room;
} list;

static int add(list *list, const char *bytes, size_t count) {
    if (list->count == list->room) {
        size_t room = list->room > 0 ? list->room * 2 : 64;
        struct item *items = realloc(list->items, room * sizeof(*items));
        if (items == NULL) return 0;
        list->items = items;
        list->room = room;
    }
    char *copy = malloc(count);
    if (copy == NULL) return 0;
    memcpy(copy, bytes, count);
    list->items[list->count++] = (struct item){count, copy};
    return 1;
}

static int compare(const char *left, size_t left_count, const char *right, size_t right_count) {
    int order = memcmp(left, right, left_count < right_count ? left_count : right_count);
    return order != 0 ? order : (left_count > right_count) - (left_count < right_count);
}

static int compare_items(const void *left, const void *right) {
    const struct item *a = left, *b = right;
    return compare(a->bytes, a->count, b->bytes, b->count);
}

static void discard(list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i].bytes);
    free(list->items);
}

/* Writes the list's items to the sink, sorted and without duplicates, at most `limit` (0: all), and discards the
 * list. */
static ld_status hand_out(list *list, uint64_t limit, const ld_sink *sink) {
    ld_status status = LD_OK;
    uint64_t written = 0;
    if (list->count > 1) qsort(list->items, list->count, sizeof(struct item), compare_items);
    for (size_t i = 0; i < list->count && status == LD_OK && (limit == 0 || written < limit); i++) {
        struct item *item = &list->items[i];
        if (i > 0 && compare_items(item - 1, item) == 0) continue;
        if (sink->write(sink->context, (ld_bytes){item->bytes, item->count}) != 0) status = LD_STOPPED;
        written++;
    }
    discard(list);
    return status;
}

static ld_status names(
    void *self, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t limit, const ld_sink *sink,
    const ld_error_sink *error) {
    store *store = self;
    size_t head = place_count(place), start = head + prefix.count;
    char *wanted = malloc(start); /* what the key of each name starts with */
    if (wanted == NULL) return fail(error, LD_ERROR_NO_SPACE, "there is no memory to list it", place->domain);
    put(put_place(wanted, place), prefix);
    list list = {NULL, 0, 0};
    int is_complete = 1;
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->bucket_count && is_complete; i++) {
        for (entry *entry = store->buckets[i]; entry != NULL && is_complete; entry = entry->next) {
            if (entry->value == NULL || entry->count < start || memcmp(entry->key, wanted, start) != 0) continue;
            ld_bytes name = name_of(entry);
            if (after.count > 0 && compare(name.data, name.count, after.data, after.count) <= 0) continue;
            is_complete = add(&list, name.data, name.count);
        }
    }
    pthread_mutex_unlock(&store->lock);
    free(wanted);
    if (is_complete) return hand_out(&list, limit, sink);
    discard(&list);
    return fail(error, LD_ERROR_NO_SPACE, "there is no memory to list it", place->domain);
}

static ld_status places(void *self, const ld_sink *sink, const ld_error_sink *error) {
    store *store = self;
    list list = {NULL, 0, 0};
    int is_complete = 1;
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->bucket_count && is_complete; i++) {
        for (entry *entry = store->buckets[i]; entry != NULL && is_complete; entry = entry->next) {
            /* Domain, 0, scope: the key without its name and the 0 before that. */
            if (entry->value != NULL) is_complete = add(&list, entry->key, entry->place - 1);
        }
    }
    pthread_mutex_unlock(&store->lock);
    if (is_complete) return hand_out(&list, 0, sink);
    discard(&list);
    return fail(error, LD_ERROR_NO_SPACE, "there is no memory to list it", text("places"));
}

static const ld_store_enumeration enumeration = {.size = sizeof(enumeration), .names = names, .places = places};

static const void *extension(void *self, ld_bytes id) {
    (void)self;
    return equals(id, LD_STORE_ENUMERATION) ? &enumeration : NULL;
}

/* ---------------------------------------------------------------- the plugin ------------------------------------- */

static ld_status open_store(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)host, (void)options;
    store *store = calloc(1, sizeof(*store));
    entry **buckets = calloc(FIRST_BUCKETS, sizeof(entry *));
    if (store == NULL || buckets == NULL || pthread_mutex_init(&store->lock, NULL) != 0) {
        free(store);
        free(buckets);
        return fail(error, LD_ERROR_STORE_UNAVAILABLE, "there is no memory for a store", text("c-backend"));
    }
    store->buckets = buckets;
    store->bucket_count = FIRST_BUCKETS;
    store->table = (ld_store){
        .size = sizeof(ld_store), .latency = LD_LATENCY_MEMORY, .flags = 0, .largest_value = 0, .self = store,
        .resolve = resolve, .release = release, .get = get, .exists = exists, .set = set, .remove = remove_value,
        .extension = extension, .close = close_store,
    };
    *table = &store->table;
    return LD_OK;
}

#define TEXT(literal) {literal, sizeof(literal) - 1}

static const ld_component component = {
    .size = sizeof(component),
    .kind = LD_KIND_STORAGE,
    .id = TEXT("c-backend"),
    .summary = TEXT("keeps values in memory until the process ends"),
    .options = TEXT("[]"),
    .open = open_store,
};

static const ld_component *const components[] = {&component};

static const ld_plugin plugin = {
    .size = sizeof(plugin),
    .magic = LD_MAGIC,
    .abi_major = LD_ABI_MAJOR,
    .abi_minor = LD_ABI_MINOR,
    .name = TEXT("CBackend"),
    .version = TEXT("0.1.0"),
    .components = components,
    .component_count = sizeof(components) / sizeof(components[0]),
};

LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return &plugin; }
