/* A sync transport of ABI 1.1 in the memory of the process: transports with the same options have one log. */
#include "kept.h"

typedef struct record {
    int is_removed;
    ld_bytes writer, name, content;
    char bytes[];
} record;

typedef struct subscription {
    struct subscription *next;
    ld_sync_subscriber subscriber;
} subscription;

/* A log is never freed: its transports come and go. */
typedef struct log {
    struct log *next;
    ld_bytes options;
    lock lock;    /* of the records */
    lock telling; /* of the subscriptions, and while they are notified */
    uint64_t count;
    record **records;
    size_t room;
    subscription *subscriptions;
    char bytes[];
} log;

typedef struct transport {
    ld_sync table;
    log *log;
} transport;

typedef struct position {
    char mark[8];
    uint64_t next;
} position;

static const position start = {"kept1.1", 0};

enum { LARGEST = 1 << 20 };

static ld_status no_memory(const ld_error_sink *error) { return fail(error, LD_ERROR_NO_SPACE, BYTES("out of memory")); }

static ld_bytes keep(char **end, ld_bytes bytes) {
    ld_bytes copy = {*end, bytes.count};
    if (bytes.count > 0) memcpy(*end, bytes.data, bytes.count);
    *end += bytes.count;
    return copy;
}

static int append(log *log, const ld_sync_record *given) {
    record *made = malloc(sizeof *made + given->writer.count + given->name.count + given->content.count);
    if (made == NULL) return 0;
    char *end = made->bytes;
    made->is_removed = 0;
    made->writer = keep(&end, given->writer);
    made->name = keep(&end, given->name);
    made->content = keep(&end, given->content);
    take(&log->lock);
    if (log->count == log->room) {
        record **grown = realloc(log->records, (log->room * 2 + 64) * sizeof *grown);
        if (grown == NULL) return give(&log->lock), free(made), 0;
        log->records = grown;
        log->room = log->room * 2 + 64;
    }
    log->records[log->count++] = made;
    give(&log->lock);
    return 1;
}

static ld_status publish(
    void *self, const ld_sync_record *const *records, size_t count, const ld_error_sink *error) {
    log *log = ((transport *)self)->log;
    for (size_t i = 0; i < count; i++) {
        if (records[i]->content.count > LARGEST) return fail(error, LD_ERROR_VALUE_TOO_LARGE, BYTES("a record is too large"));
    }
    int is_done = 1;
    for (size_t i = 0; i < count && is_done; i++) is_done = append(log, records[i]);
    take(&log->telling);
    for (subscription *one = log->subscriptions; one != NULL; one = one->next) {
        one->subscriber.notify(one->subscriber.context, LD_SYNC_CHANGED);
    }
    give(&log->telling);
    return is_done ? LD_OK : no_memory(error);
}

static ld_status remove_records(
    void *self, ld_bytes writer, const ld_bytes *names, size_t count, const ld_error_sink *error) {
    (void)error;
    log *log = ((transport *)self)->log;
    take(&log->lock);
    for (uint64_t i = 0; i < log->count; i++) {
        if (!equals(log->records[i]->writer, writer)) continue;
        for (size_t j = 0; j < count; j++) {
            if (equals(log->records[i]->name, names[j])) log->records[i]->is_removed = 1;
        }
    }
    give(&log->lock);
    return LD_OK;
}

static ld_status fetch(
    void *self, ld_bytes since, void *context, int32_t (*receive)(void *context, const ld_sync_record *record),
    const ld_sink *sink, const ld_error_sink *error) {
    log *log = ((transport *)self)->log;
    position reached = start;
    if (since.count == sizeof reached) memcpy(&reached, since.data, sizeof reached);
    take(&log->lock);
    uint64_t end = log->count;
    give(&log->lock);
    if (since.count > 0
        && (since.count != sizeof reached || memcmp(reached.mark, start.mark, sizeof start.mark) != 0 || reached.next > end)) {
        return fail(error, LD_ERROR_POSITION_LOST, BYTES("this is no position of the log"));
    }
    for (int is_stopped = 0; reached.next < end && !is_stopped; reached.next++) {
        take(&log->lock);
        record *found = log->records[reached.next];
        int is_removed = found->is_removed;
        give(&log->lock);
        if (is_removed) continue;
        ld_sync_record passed = {
            .size = sizeof passed, .writer = found->writer, .name = found->name, .content = found->content};
        is_stopped = receive(context, &passed) != 0;
    }
    return sink->write(sink->context, (ld_bytes){&reached, sizeof reached}) == 0 ? LD_OK : LD_STOPPED;
}

static ld_status subscribe(
    void *self, const ld_sync_subscriber *subscriber, void **token, const ld_error_sink *error) {
    log *log = ((transport *)self)->log;
    subscription *made = malloc(sizeof *made);
    if (made == NULL) return no_memory(error);
    made->subscriber = *subscriber;
    take(&log->telling);
    made->next = log->subscriptions;
    log->subscriptions = made;
    give(&log->telling);
    *token = made;
    return LD_OK;
}

static void unsubscribe(void *self, void *token) {
    log *log = ((transport *)self)->log;
    take(&log->telling);
    subscription **at = &log->subscriptions;
    while (*at != token) at = &(*at)->next;
    *at = (*at)->next;
    give(&log->telling);
    free(token);
}

static void cancel(void *self) { (void)self; }

static const void *extension(void *self, ld_bytes id) {
    (void)self, (void)id;
    return NULL;
}

static log *logs;
static lock logs_lock;

static log *log_of(ld_bytes options) {
    take(&logs_lock);
    log *found = logs;
    while (found != NULL && !equals(found->options, options)) found = found->next;
    if (found == NULL && (found = calloc(1, sizeof *found + options.count)) != NULL) {
        char *end = found->bytes;
        found->options = keep(&end, options);
        found->next = logs;
        logs = found;
    }
    give(&logs_lock);
    return found;
}

static ld_status open_transport(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)host;
    transport *made = malloc(sizeof *made);
    log *log = log_of(options);
    if (made == NULL || log == NULL) return free(made), no_memory(error);
    made->log = log;
    made->table = (ld_sync){
        .size = sizeof made->table, .largest_record = LARGEST, .self = made, .publish = publish,
        .remove = remove_records, .fetch = fetch, .subscribe = subscribe, .unsubscribe = unsubscribe,
        .cancel = cancel, .extension = extension, .close = free,
    };
    *table = &made->table;
    return LD_OK;
}

static const ld_component component = {
    .size = sizeof component, .kind = LD_KIND_SYNC, .id = TEXT("kept-sync"),
    .summary = TEXT("carries records within a process"),
    .options = TEXT("[{\"name\":\"log\",\"type\":\"path\",\"default\":\"${data}/kept\",\"help\":\"names the log\"}]"),
    .open = open_transport,
};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof plugin, .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("KeptSync"), .version = TEXT("1.0.0"), .components = components, .component_count = 1,
};

LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return &plugin; }
