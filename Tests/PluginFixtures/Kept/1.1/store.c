/* A store in memory with every ability of ABI 1.1: no table of a store is without a binary that has it. */
#include "kept.h"

typedef struct value {
    uint32_t references;
    uint64_t revision;
    size_t size; /* of the whole block */
    ld_attributes attributes;
    ld_bytes bytes;
} value;

/* A key that was resolved once; it stays until the store is closed. */
typedef struct entry {
    value *value;
    ld_bytes place; /* domain, a zero byte, scope */
    ld_bytes name;
} entry;

typedef struct watch {
    struct watch *next;
    ld_watcher watcher;
    ld_bytes place, prefix;
    char texts[];
} watch;

typedef struct held {
    struct held *next;
    ld_bytes place, name;
    char texts[];
} held;

typedef struct store {
    ld_store table;
    lock lock;     /* of all below */
    lock telling;  /* of the list of watches, and while they are notified */
    uint64_t revision;
    entry **entries; /* by place, then by name */
    size_t count, room;
    watch *watches;
    held *locks;
} store;

static ld_status no_memory(const ld_error_sink *error) { return fail(error, LD_ERROR_NO_SPACE, BYTES("out of memory")); }

/* ------------------------------------------------------------------ values -------------------------------------- */

static ld_bytes keep(char **end, ld_bytes bytes) {
    ld_bytes copy = {*end, bytes.count};
    if (bytes.count > 0) memcpy(*end, bytes.data, bytes.count);
    *end += bytes.count;
    return copy;
}

static value *make(ld_bytes bytes, const ld_attributes *given) {
    static const ld_attributes none = {.size = sizeof none};
    if (given == NULL) given = &none;
    size_t size = sizeof(value) + bytes.count + given->content_type.count + given->serializer.count
        + given->version_tag.count + given->app_version.count + given->owner.count;
    value *made = malloc(size);
    if (made == NULL) return NULL;
    char *end = (char *)(made + 1);
    *made = (value){.references = 1, .size = size, .bytes = keep(&end, bytes)};
    made->attributes = (ld_attributes){
        .size = sizeof(ld_attributes), .content_type = keep(&end, given->content_type),
        .serializer = keep(&end, given->serializer), .version_tag = keep(&end, given->version_tag),
        .app_version = keep(&end, given->app_version), .owner = keep(&end, given->owner), .value_size = bytes.count,
        .modified = now(0), .expires = given->expires,
    };
    return made;
}

static void let_go(value *value) {
    if (value == NULL || __atomic_sub_fetch(&value->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    clear(value, value->size);
    free(value);
}

static int is_over(const value *value) { return value->attributes.expires != 0 && value->attributes.expires <= now(0); }

/* What counts as stored; the store is locked. */
static value *current(const entry *entry) {
    return entry->value != NULL && !is_over(entry->value) ? entry->value : NULL;
}

/* Puts a value, or NULL, in the place of another; the store is locked. */
static void replace(store *store, entry *entry, value *value) {
    let_go(entry->value);
    entry->value = value;
    if (value != NULL) value->revision = ++store->revision;
}

/* A value with a reference of the caller's. */
static ld_status borrow(store *store, const entry *entry, value **borrowed) {
    take(&store->lock);
    *borrowed = entry->value;
    if (*borrowed != NULL) (*borrowed)->references++;
    give(&store->lock);
    if (*borrowed == NULL) return LD_ABSENT;
    if (!is_over(*borrowed)) return LD_OK;
    let_go(*borrowed);
    return LD_EXPIRED;
}

/* ------------------------------------------------------------------ keys ---------------------------------------- */

static int compare(ld_bytes left, ld_bytes right) {
    size_t common = left.count < right.count ? left.count : right.count;
    int order = common > 0 ? memcmp(left.data, right.data, common) : 0;
    return order != 0 ? order : left.count < right.count ? -1 : left.count > right.count;
}

static int starts(ld_bytes name, ld_bytes prefix) {
    return prefix.count == 0 || (name.count >= prefix.count && memcmp(name.data, prefix.data, prefix.count) == 0);
}

/* The first entry that is not before this name. */
static size_t lower(const store *store, ld_bytes place, ld_bytes name) {
    size_t low = 0, high = store->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(store->entries[middle]->place, place);
        if (order == 0) order = compare(store->entries[middle]->name, name);
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Domain, a zero byte and scope, in the caller's buffer. */
typedef struct place_text {
    char text[64 + 1 + 1024];
    size_t count;
} place_text;

static ld_bytes put(place_text *text, const ld_namespace *place) {
    char *end = text->text;
    keep(&end, place->domain);
    *end++ = 0;
    keep(&end, place->scope);
    return (ld_bytes){text->text, (size_t)(end - text->text)};
}

/* The entry of a name, made if it is missing; NULL if there is no memory. The store is locked. */
static entry *find(store *store, ld_bytes place, ld_bytes name) {
    size_t at = lower(store, place, name);
    if (at < store->count && equals(store->entries[at]->place, place) && equals(store->entries[at]->name, name)) {
        return store->entries[at];
    }
    if (store->count == store->room) {
        size_t room = store->room * 2 + 64;
        entry **grown = realloc(store->entries, room * sizeof *grown);
        if (grown == NULL) return NULL;
        store->entries = grown;
        store->room = room;
    }
    entry *made = malloc(sizeof *made + place.count + name.count);
    if (made == NULL) return NULL;
    char *end = (char *)(made + 1);
    *made = (entry){.place = keep(&end, place)};
    made->name = keep(&end, name);
    memmove(store->entries + at + 1, store->entries + at, (store->count++ - at) * sizeof(entry *));
    store->entries[at] = made;
    return made;
}

static void tell(store *store, const entry *entry) {
    take(&store->telling);
    for (watch *watch = store->watches; watch != NULL; watch = watch->next) {
        if (!equals(watch->place, entry->place) || !starts(entry->name, watch->prefix)) continue;
        watch->watcher.changed(watch->watcher.context, entry->name);
    }
    give(&store->telling);
}

static ld_status resolve(void *self, const ld_address *address, void **handle, const ld_error_sink *error) {
    store *store = self;
    place_text text;
    ld_bytes place = put(&text, address->place);
    take(&store->lock);
    *handle = find(store, place, address->name);
    give(&store->lock);
    return *handle != NULL ? LD_OK : no_memory(error);
}

static void release(void *self, void *handle) { (void)self, (void)handle; }

static ld_status get(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    (void)error;
    value *value;
    ld_status status = borrow(self, handle, &value);
    if (status != LD_OK) return status;
    status = sink->write(sink->context, value->bytes) == 0 ? LD_OK : LD_STOPPED;
    let_go(value);
    return status;
}

static ld_status exists(void *self, void *handle, const ld_error_sink *error) {
    (void)error;
    value *value;
    ld_status status = borrow(self, handle, &value);
    if (status == LD_OK) let_go(value);
    return status;
}

static ld_status set(
    void *self, void *handle, ld_bytes bytes, const ld_attributes *attributes, const ld_error_sink *error) {
    store *store = self;
    value *made = make(bytes, attributes);
    if (made == NULL) return no_memory(error);
    take(&store->lock);
    replace(store, handle, made);
    give(&store->lock);
    tell(store, handle);
    return LD_OK;
}

static ld_status remove_value(void *self, void *handle, const ld_error_sink *error) {
    (void)error;
    store *store = self;
    take(&store->lock);
    int was_there = current(handle) != NULL;
    replace(store, handle, NULL);
    give(&store->lock);
    if (was_there) tell(store, handle);
    return was_there ? LD_OK : LD_ABSENT;
}

static void close_store(void *self) {
    store *store = self;
    for (size_t i = 0; i < store->count; i++) {
        let_go(store->entries[i]->value);
        free(store->entries[i]);
    }
    free(store->entries);
    free(store);
}

/* ------------------------------------------------------------------ listings ------------------------------------ */

/* An entry with the value that it had when it was listed. */
typedef struct item {
    entry *entry;
    value *value;
} item;

typedef struct list {
    item *items;
    size_t count;
} list;

enum wanted { CURRENT, EXPIRED };

static int collect(
    store *store, const ld_namespace *place, ld_bytes prefix, ld_bytes after, enum wanted wanted, list *list) {
    place_text text;
    ld_bytes key = put(&text, place);
    *list = (struct list){NULL, 0};
    take(&store->lock);
    size_t first = lower(store, key, compare(after, prefix) > 0 ? after : prefix);
    size_t end = first;
    while (end < store->count && equals(store->entries[end]->place, key) && starts(store->entries[end]->name, prefix)) end++;
    list->items = malloc((end - first + 1) * sizeof(item));
    for (size_t i = first; i < end && list->items != NULL; i++) {
        entry *entry = store->entries[i];
        if (entry->value == NULL || is_over(entry->value) != (wanted == EXPIRED)) continue;
        if (after.count > 0 && compare(entry->name, after) <= 0) continue;
        entry->value->references++;
        list->items[list->count++] = (item){entry, entry->value};
    }
    give(&store->lock);
    return list->items != NULL;
}

static void drop(list *list) {
    for (size_t i = 0; i < list->count; i++) let_go(list->items[i].value);
    free(list->items);
}

static ld_status pass_names(list *list, uint64_t limit, const ld_sink *sink) {
    ld_status status = LD_OK;
    for (size_t i = 0; i < list->count && (limit == 0 || i < limit) && status == LD_OK; i++) {
        if (sink->write(sink->context, list->items[i].entry->name) != 0) status = LD_STOPPED;
    }
    drop(list);
    return status;
}

static ld_status names(
    void *self, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t limit, const ld_sink *sink,
    const ld_error_sink *error) {
    list list;
    return collect(self, place, prefix, after, CURRENT, &list) ? pass_names(&list, limit, sink) : no_memory(error);
}

static ld_status places(void *self, const ld_sink *sink, const ld_error_sink *error) {
    store *store = self;
    ld_status status = LD_OK;
    take(&store->lock);
    ld_bytes *found = malloc((store->count + 1) * sizeof *found);
    size_t count = 0;
    for (size_t i = 0; i < store->count && found != NULL; i++) {
        if (current(store->entries[i]) == NULL) continue;
        if (count == 0 || !equals(found[count - 1], store->entries[i]->place)) found[count++] = store->entries[i]->place;
    }
    give(&store->lock);
    if (found == NULL) return no_memory(error);
    for (size_t i = 0; i < count && status == LD_OK; i++) {
        if (sink->write(sink->context, found[i]) != 0) status = LD_STOPPED;
    }
    free(found);
    return status;
}

static const ld_store_enumeration enumeration = {sizeof enumeration, names, places};

/* ------------------------------------------------------------------ a value with what is known of it ------------- */

static ld_status attributes(
    void *self, void *handle, void *context, void (*take)(void *context, const ld_attributes *attributes),
    const ld_error_sink *error) {
    (void)error;
    value *value;
    ld_status status = borrow(self, handle, &value);
    if (status != LD_OK) return status;
    take(context, &value->attributes);
    let_go(value);
    return LD_OK;
}

static const ld_store_attributes attributing = {sizeof attributing, attributes};

/* ------------------------------------------------------------------ pieces -------------------------------------- */

static ld_status read_pieces(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    (void)error;
    value *value;
    ld_status status = borrow(self, handle, &value);
    if (status != LD_OK) return status;
    for (size_t at = 0; at < value->bytes.count && status == LD_OK; at += 65536) {
        size_t rest = value->bytes.count - at;
        ld_bytes piece = {(const char *)value->bytes.data + at, rest < 65536 ? rest : 65536};
        if (sink->write(sink->context, piece) != 0) status = LD_STOPPED;
    }
    let_go(value);
    return status;
}

static ld_status write_pieces(
    void *self, void *handle, const ld_source *source, const ld_attributes *attributes, const ld_error_sink *error) {
    char *bytes = NULL;
    size_t count = 0, room = 0;
    int64_t more = 1;
    while (more > 0) {
        if (room - count < 65536) {
            char *grown = malloc(room = room * 2 + 65536);
            if (grown == NULL) break;
            if (count > 0) memcpy(grown, bytes, count), clear(bytes, count);
            free(bytes);
            bytes = grown;
        }
        more = source->read(source->context, bytes + count, room - count);
        if (more > 0) count += (size_t)more;
    }
    ld_status status = more < 0 ? LD_STOPPED
        : more > 0              ? no_memory(error)
                                : set(self, handle, (ld_bytes){bytes, count}, attributes, error);
    if (count > 0) clear(bytes, count);
    free(bytes);
    return status;
}

static const ld_store_streaming streaming = {sizeof streaming, read_pieces, write_pieces};

/* ------------------------------------------------------------------ many changes -------------------------------- */

static void drop_values(value **values, size_t count) {
    for (size_t i = 0; i < count; i++) let_go(values[i]);
    free(values);
}

static ld_status apply(void *self, const ld_operation *const *operations, size_t count, const ld_error_sink *error) {
    store *store = self;
    value **values = calloc(count + 1, sizeof *values);
    if (values == NULL) return no_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (operations[i]->remove) continue;
        values[i] = make(operations[i]->value, operations[i]->attributes);
        if (values[i] == NULL) return drop_values(values, i), no_memory(error);
    }
    take(&store->lock);
    for (size_t i = 0; i < count; i++) replace(store, operations[i]->handle, values[i]);
    give(&store->lock);
    for (size_t i = 0; i < count; i++) tell(store, operations[i]->handle);
    free(values);
    return LD_OK;
}

static const ld_store_batch batch = {sizeof batch, apply};

static ld_status read_many(
    void *self, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t largest, void *context,
    int32_t (*take)(void *context, const ld_bulk_value *value), const ld_error_sink *error) {
    list list;
    ld_status status = LD_OK;
    if (!collect(self, place, prefix, after, CURRENT, &list)) return no_memory(error);
    for (size_t i = 0; i < list.count && status == LD_OK; i++) {
        value *value = list.items[i].value;
        ld_bulk_value passed = {
            .size = sizeof passed, .omitted = value->bytes.count > largest, .name = list.items[i].entry->name,
            .attributes = &value->attributes, .mark = value->revision,
        };
        if (!passed.omitted) passed.value = value->bytes;
        if (take(context, &passed) != 0) status = LD_STOPPED;
    }
    drop(&list);
    return status;
}

static ld_status apply_many(
    void *self, const ld_bulk_change *const *changes, size_t count, void *context,
    void (*conflict)(void *context, size_t index), const ld_error_sink *error) {
    store *store = self;
    value **values = calloc(count + 1, sizeof *values);
    entry **entries = calloc(count + 1, sizeof *entries);
    value **old = calloc(count + 1, sizeof *old);
    char *conflicts = calloc(count + 1, 1);
    size_t made = 0, failed = 0;
    int is_ready = values != NULL && entries != NULL && old != NULL && conflicts != NULL;
    for (; is_ready && made < count; made++) {
        if (changes[made]->flags & LD_BULK_REMOVE) continue;
        is_ready = (values[made] = make(changes[made]->value, changes[made]->attributes)) != NULL;
    }
    take(&store->lock);
    for (size_t i = 0; is_ready && i < count; i++) {
        place_text text;
        ld_bytes place = put(&text, changes[i]->place);
        is_ready = (entries[i] = find(store, place, changes[i]->name)) != NULL;
    }
    /* Made in order, since each is compared with what those before it left, and undone if one does not fit. */
    for (size_t i = 0; is_ready && i < count; i++) {
        value *there = current(entries[i]);
        if ((changes[i]->flags & LD_BULK_EXPECT) && changes[i]->mark != (there != NULL ? there->revision : 0)) {
            conflicts[i] = 1;
            failed++;
        }
        old[i] = entries[i]->value;
        entries[i]->value = values[i];
        if (values[i] != NULL) values[i]->revision = ++store->revision;
    }
    for (size_t i = count; is_ready && failed > 0 && i-- > 0;) entries[i]->value = old[i];
    give(&store->lock);
    ld_status status = LD_OK;
    if (!is_ready) {
        status = no_memory(error);
    } else if (failed > 0) {
        for (size_t i = 0; i < count; i++) {
            if (conflicts[i]) conflict(context, i);
        }
        status = fail(error, LD_ERROR_BUSY, BYTES("values are not the expected ones"));
    } else {
        for (size_t i = 0; i < count; i++) tell(store, entries[i]);
    }
    if (status != LD_OK && values != NULL) drop_values(values, made);
    if (status == LD_OK) drop_values(old, count), free(values);
    else free(old);
    free(entries);
    free(conflicts);
    return status;
}

static const ld_store_bulk bulk = {sizeof bulk, read_many, apply_many};

/* ------------------------------------------------------------------ conditional changes ------------------------- */

static ld_status get_revision(
    void *self, void *handle, void *context,
    void (*take)(void *context, uint64_t revision, const ld_attributes *attributes, ld_bytes value),
    const ld_error_sink *error) {
    (void)error;
    value *value;
    ld_status status = borrow(self, handle, &value);
    if (status != LD_OK) return status;
    take(context, value->revision, &value->attributes, value->bytes);
    let_go(value);
    return LD_OK;
}

static ld_status set_if(
    void *self, void *handle, ld_bytes bytes, const ld_attributes *attributes, uint32_t condition, uint64_t *revision,
    const ld_error_sink *error) {
    store *store = self;
    entry *entry = handle;
    if (condition > LD_IF_REVISION) return fail(error, LD_ERROR_UNSUPPORTED, BYTES("the condition is unknown"));
    value *made = make(bytes, attributes);
    if (made == NULL) return no_memory(error);
    take(&store->lock);
    value *there = current(entry);
    int fits = condition == LD_IF_ANYTHING || (condition == LD_IF_ABSENT && there == NULL)
        || (condition == LD_IF_REVISION && there != NULL && there->revision == *revision);
    if (fits) {
        replace(store, entry, made);
        *revision = made->revision;
    }
    give(&store->lock);
    if (fits) tell(store, entry);
    else let_go(made);
    return fits ? LD_OK : LD_ABSENT;
}

static ld_status remove_if(void *self, void *handle, uint64_t revision, const ld_error_sink *error) {
    (void)error;
    store *store = self;
    take(&store->lock);
    value *there = current(handle);
    int fits = there != NULL && there->revision == revision;
    if (fits) replace(store, handle, NULL);
    give(&store->lock);
    if (fits) tell(store, handle);
    return fits ? LD_OK : LD_ABSENT;
}

static const ld_store_conditional conditional = {sizeof conditional, get_revision, set_if, remove_if};

/* ------------------------------------------------------------------ expiry -------------------------------------- */

static ld_status discard(void *self, void *handle, const ld_error_sink *error) {
    (void)error;
    store *store = self;
    entry *entry = handle;
    take(&store->lock);
    int is_discarded = entry->value != NULL && is_over(entry->value);
    if (is_discarded) replace(store, entry, NULL);
    give(&store->lock);
    if (is_discarded) tell(store, entry);
    return LD_OK;
}

static ld_status sweep(
    void *self, const ld_namespace *place, uint64_t limit, uint64_t *removed, const ld_error_sink *error) {
    (void)error;
    store *store = self;
    place_text text;
    ld_bytes key = {NULL, 0};
    if (place != NULL) key = put(&text, place);
    *removed = 0;
    for (size_t i = 0; *removed < limit; i++) {
        take(&store->lock);
        entry *entry = i < store->count ? store->entries[i] : NULL;
        int is_removed = entry != NULL && (place == NULL || equals(entry->place, key)) && entry->value != NULL
            && is_over(entry->value);
        if (is_removed) replace(store, entry, NULL);
        give(&store->lock);
        if (entry == NULL) break;
        if (is_removed) tell(store, entry);
        *removed += (uint64_t)is_removed;
    }
    return LD_OK;
}

static ld_status expired(void *self, const ld_namespace *place, const ld_sink *sink, const ld_error_sink *error) {
    list list;
    if (!collect(self, place, (ld_bytes){NULL, 0}, (ld_bytes){NULL, 0}, EXPIRED, &list)) return no_memory(error);
    return pass_names(&list, 0, sink);
}

static const ld_store_expiry expiry = {sizeof expiry, discard, sweep, expired};

/* ------------------------------------------------------------------ locks --------------------------------------- */

static ld_status take_lock(
    void *self, const ld_namespace *place, ld_bytes name, uint64_t wait, void **taken, const ld_error_sink *error) {
    store *store = self;
    place_text text;
    ld_bytes key = put(&text, place);
    held *made = malloc(sizeof *made + key.count + name.count);
    if (made == NULL) return no_memory(error);
    char *end = made->texts;
    made->place = keep(&end, key);
    made->name = keep(&end, name);
    for (int64_t start = now(1);;) {
        take(&store->lock);
        held *other = store->locks;
        while (other != NULL && !(equals(other->place, made->place) && equals(other->name, made->name))) other = other->next;
        if (other == NULL) made->next = store->locks, store->locks = made;
        give(&store->lock);
        if (other == NULL) return *taken = made, LD_OK;
        if ((uint64_t)(now(1) - start) >= wait) return free(made), LD_ABSENT;
        sched_yield();
    }
}

static ld_status is_held(void *self, void *taken, const ld_error_sink *error) {
    (void)self, (void)taken, (void)error;
    return LD_OK;
}

static void unlock(void *self, void *taken) {
    store *store = self;
    take(&store->lock);
    held **at = &store->locks;
    while (*at != taken) at = &(*at)->next;
    *at = (*at)->next;
    give(&store->lock);
    free(taken);
}

static const ld_store_lock locking = {sizeof locking, take_lock, is_held, unlock};

/* ------------------------------------------------------------------ watches ------------------------------------- */

static ld_status begin_watch(
    void *self, const ld_namespace *place, ld_bytes prefix, const ld_watcher *watcher, void **token,
    const ld_error_sink *error) {
    store *store = self;
    place_text text;
    ld_bytes key = put(&text, place);
    watch *made = malloc(sizeof *made + key.count + prefix.count);
    if (made == NULL) return no_memory(error);
    char *end = made->texts;
    made->watcher = *watcher;
    made->place = keep(&end, key);
    made->prefix = keep(&end, prefix);
    take(&store->telling);
    made->next = store->watches;
    store->watches = made;
    give(&store->telling);
    *token = made;
    return LD_OK;
}

static void end_watch(void *self, void *token) {
    store *store = self;
    take(&store->telling);
    watch **at = &store->watches;
    while (*at != token) at = &(*at)->next;
    *at = (*at)->next;
    give(&store->telling);
    free(token);
}

static const ld_store_watch watching = {sizeof watching, begin_watch, end_watch};

/* ------------------------------------------------------------------ transactions -------------------------------- */

/* What a transaction knows of an entry: the revision that it saw first, and what it makes of it. */
typedef struct step {
    struct step *next;
    entry *entry;
    uint64_t seen;
    int is_changed;
    value *value;
} step;

typedef struct transaction {
    step *steps;
} transaction;

static step *step_of(store *store, transaction *transaction, entry *entry) {
    step *found = transaction->steps;
    while (found != NULL && found->entry != entry) found = found->next;
    if (found != NULL) return found;
    found = calloc(1, sizeof *found);
    if (found == NULL) return NULL;
    take(&store->lock);
    value *there = current(entry);
    found->seen = there != NULL ? there->revision : 0;
    found->value = there;
    if (there != NULL) there->references++;
    give(&store->lock);
    found->entry = entry;
    found->next = transaction->steps;
    return transaction->steps = found;
}

static void end_transaction(transaction *transaction) {
    while (transaction->steps != NULL) {
        step *step = transaction->steps;
        transaction->steps = step->next;
        let_go(step->value);
        free(step);
    }
    free(transaction);
}

static ld_status begin(void *self, void **made, const ld_error_sink *error) {
    (void)self;
    *made = calloc(1, sizeof(transaction));
    return *made != NULL ? LD_OK : no_memory(error);
}

static ld_status get_inside(
    void *self, void *transaction, void *handle, const ld_sink *sink, const ld_error_sink *error) {
    step *step = step_of(self, transaction, handle);
    if (step == NULL) return no_memory(error);
    if (step->value == NULL) return LD_ABSENT;
    return sink->write(sink->context, step->value->bytes) == 0 ? LD_OK : LD_STOPPED;
}

static ld_status set_inside(
    void *self, void *transaction, void *handle, ld_bytes bytes, const ld_attributes *attributes,
    const ld_error_sink *error) {
    step *step = step_of(self, transaction, handle);
    value *made = make(bytes, attributes);
    if (step == NULL || made == NULL) return let_go(made), no_memory(error);
    let_go(step->value);
    step->value = made;
    step->is_changed = 1;
    return LD_OK;
}

static ld_status remove_inside(void *self, void *transaction, void *handle, const ld_error_sink *error) {
    step *step = step_of(self, transaction, handle);
    if (step == NULL) return no_memory(error);
    int was_there = step->value != NULL;
    let_go(step->value);
    step->value = NULL;
    step->is_changed = 1;
    return was_there ? LD_OK : LD_ABSENT;
}

static ld_status commit(void *self, void *given, const ld_error_sink *error) {
    store *store = self;
    transaction *transaction = given;
    int fits = 1;
    take(&store->lock);
    for (step *step = transaction->steps; step != NULL; step = step->next) {
        value *there = current(step->entry);
        if ((there != NULL ? there->revision : 0) != step->seen) fits = 0;
    }
    for (step *step = transaction->steps; fits && step != NULL; step = step->next) {
        if (!step->is_changed) continue;
        replace(store, step->entry, step->value);
        step->value = NULL;
    }
    give(&store->lock);
    for (step *step = transaction->steps; fits && step != NULL; step = step->next) {
        if (step->is_changed) tell(store, step->entry);
    }
    end_transaction(transaction);
    return fits ? LD_OK : fail(error, LD_ERROR_BUSY, BYTES("another changed a value meanwhile"));
}

static void rollback(void *self, void *transaction) {
    (void)self;
    end_transaction(transaction);
}

static const ld_store_transactions transactions = {
    sizeof transactions, begin, get_inside, set_inside, remove_inside, commit, rollback};

/* ------------------------------------------------------------------ damage, of which memory has none ------------- */

static ld_status check(void *self, const ld_sink *sink, const ld_error_sink *error) {
    (void)self, (void)sink, (void)error;
    return LD_OK;
}

static ld_status verify(void *self, void *handle, uint32_t *state, const ld_error_sink *error) {
    *state = LD_VALUE_INTACT;
    return exists(self, handle, error);
}

static ld_status wipe(void *self, const ld_namespace *place, const ld_error_sink *error) {
    (void)self, (void)place, (void)error;
    return LD_OK;
}

static const ld_store_check checking = {sizeof checking, check};
static const ld_store_repair repairing = {sizeof repairing, check};
static const ld_store_verification verification = {sizeof verification, verify};
static const ld_store_wiping wiping = {sizeof wiping, wipe};

/* ------------------------------------------------------------------ the plugin ---------------------------------- */

static const void *extension(void *self, ld_bytes id) {
    (void)self;
#define ABILITY(name, table) if (equals(id, BYTES(name))) return &table
    ABILITY(LD_STORE_ENUMERATION, enumeration);
    ABILITY(LD_STORE_ATTRIBUTES, attributing);
    ABILITY(LD_STORE_STREAMING, streaming);
    ABILITY(LD_STORE_BATCH, batch);
    ABILITY(LD_STORE_WATCH, watching);
    ABILITY(LD_STORE_TRANSACTIONS, transactions);
    ABILITY(LD_STORE_CHECK, checking);
    ABILITY(LD_STORE_REPAIR, repairing);
    ABILITY(LD_STORE_VERIFICATION, verification);
    ABILITY(LD_STORE_CONDITIONAL, conditional);
    ABILITY(LD_STORE_EXPIRY, expiry);
    ABILITY(LD_STORE_LOCK, locking);
    ABILITY(LD_STORE_WIPING, wiping);
    ABILITY(LD_STORE_BULK, bulk);
    return NULL;
}

static ld_status open_store(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)options;
    store *made = calloc(1, sizeof *made);
    if (made == NULL) return no_memory(error);
    made->table = (ld_store){
        .size = sizeof made->table, .latency = LD_LATENCY_MEMORY, .self = made, .resolve = resolve, .release = release,
        .get = get, .exists = exists, .set = set, .remove = remove_value, .extension = extension, .close = close_store,
    };
    const ld_host_log *log = host->extension(host->context, BYTES(LD_HOST_LOG));
    if (log != NULL && log->threshold(log->context) <= 1) log->log(log->context, 1, BYTES("kept"), BYTES("opened"));
    *table = &made->table;
    return LD_OK;
}

static const ld_component component = {
    .size = sizeof component, .kind = LD_KIND_STORAGE, .id = TEXT("kept-store"),
    .summary = TEXT("keeps values in memory, with every ability of ABI 1.1"), .open = open_store,
};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof plugin, .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("KeptStore"), .version = TEXT("1.0.0"), .components = components, .component_count = 1,
};

LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return &plugin; }
