/*
 * CSync, a sync transport in C: devices with one local folder exchange records through a log file in it.
 *
 * It is complete: any number of processes and threads can use the log at once, published records survive a power loss,
 * and no reader sees a record that a crash left half written. The log begins with an id and the offset where its
 * records end. That offset moves once the records before it are on the disk. A position is the log's id and an offset.
 * A removed record is marked; the log never becomes shorter.
 *
 * localdata/plugin.h says what each function owes to its caller.
 */
#define _GNU_SOURCE /* memmem(3), pipe2(2), pwritev(2) */
#include <localdata/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define LARGEST (1u << 24)

typedef struct transport {
    ld_sync table;        /* what the host sees; its `self` is this struct */
    atomic_ulong cancels; /* how often calls were cancelled */
    char folder[4096];
    char file[4096 + 128];
} transport;

/* The log's first bytes. */
typedef struct head {
    char magic[8];
    uint64_t id, end;
} head;
static const char magic[8] = "records";

/* What each record begins with; its writer, name and content follow. */
typedef struct frame {
    uint32_t content;
    uint8_t writer, name, is_removed, reserved;
} frame;

typedef struct position {
    uint64_t id, place, check;
} position;

/* ---------------------------------------------------------------- small parts ------------------------------------ */

static ld_bytes text(const char *string) { return (ld_bytes){string, strlen(string)}; }

/* Reports a failure, once, with the log's path. */
static ld_status fail(transport *self, const ld_error_sink *error, ld_error_code code, const char *what) {
    char message[4400];
    snprintf(message, sizeof(message), "'%s': %s", self->file, what);
    ld_bytes hint = text("check the folder of the component c-sync");
    if (error != NULL) error->report(error->context, code, text(message), hint);
    return LD_FAILED;
}

static ld_status fail_with_errno(transport *self, const ld_error_sink *error, ld_error_code code) {
    return fail(self, error, errno == ENOSPC ? LD_ERROR_NO_SPACE : code, strerror(errno));
}

/* Writes at an offset and moves it past the written bytes; 0 if that fails. The log is a file on a local disk, so a
 * short write means that the disk is full, and a short read that the log is damaged. */
static int write_at(int file, uint64_t *place, const struct iovec *parts, int count) {
    size_t wanted = 0;
    for (int i = 0; i < count; i++) wanted += parts[i].iov_len;
    ssize_t written = pwritev(file, parts, count, (off_t)*place);
    if (written >= 0 && (size_t)written < wanted) errno = ENOSPC;
    *place += wanted;
    return written >= 0 && (size_t)written == wanted;
}

static int write_bytes(int file, uint64_t place, const void *bytes, size_t count) {
    return write_at(file, &place, &(struct iovec){(void *)bytes, count}, 1);
}

static int read_at(int file, uint64_t place, void *bytes, size_t count) {
    ssize_t got = pread(file, bytes, count, (off_t)place);
    if (got >= 0 && (size_t)got < count) errno = EIO;
    return got >= 0 && (size_t)got == count;
}

/* Makes a new log durable: its head, and its name in the folder. */
static int create(transport *self, int file, head *head) {
    memcpy(head->magic, magic, sizeof(magic));
    head->end = sizeof(*head);
    if (getrandom(&head->id, sizeof(head->id), 0) != sizeof(head->id)) return 0;
    if (!write_bytes(file, 0, head, sizeof(*head)) || fsync(file) != 0) return 0;
    int folder = open(self->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return 0;
    int is_durable = fsync(folder) == 0;
    close(folder);
    return is_durable;
}

/* Opens the log, locks it until it is closed, and reads its head. The lock belongs to this open file, so it excludes
 * other threads, too. It is never held for long, and waiting for it can be cancelled. */
static ld_status open_log(transport *self, int *file, head *head, const ld_error_sink *error) {
    unsigned long cancels = atomic_load(&self->cancels);
    struct timespec pause = {0, 500000};
    struct stat status;
    *file = open(self->file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*file < 0) return fail_with_errno(self, error, LD_ERROR_STORE_UNAVAILABLE);
    while (flock(*file, LOCK_EX | LOCK_NB) != 0) {
        int is_cancelled = atomic_load(&self->cancels) != cancels;
        if (is_cancelled || errno != EWOULDBLOCK) {
            close(*file);
            if (is_cancelled) return fail(self, error, LD_ERROR_CANCELLED, "the call was cancelled");
            return fail_with_errno(self, error, LD_ERROR_STORE_UNAVAILABLE);
        }
        nanosleep(&pause, NULL);
    }
    int is_there = fstat(*file, &status) == 0
        && (status.st_size < (off_t)sizeof(*head) ? create(self, *file, head) : read_at(*file, 0, head, sizeof(*head)));
    if (is_there && memcmp(head->magic, magic, sizeof(magic)) == 0) return LD_OK;
    ld_status failed = is_there ? fail(self, error, LD_ERROR_CORRUPT, "it is not a log of this component")
                                : fail_with_errno(self, error, LD_ERROR_STORE_UNAVAILABLE);
    close(*file);
    return failed;
}

static uint64_t check_of(position position) { return (position.id ^ position.place) * 0x9e3779b97f4a7c15u; }

/* Reads the frame at a position; 0 if the bytes there cannot be a frame. */
static int read_frame(int file, frame *frame, uint64_t place, uint64_t end) {
    return end - place >= sizeof(*frame) && read_at(file, place, frame, sizeof(*frame)) && frame->content <= LARGEST
        && frame->writer >= 1 && frame->writer <= 64 && frame->name >= 1 && frame->name <= 64
        && end - place - sizeof(*frame) >= (uint64_t)frame->writer + frame->name + frame->content;
}

static uint64_t size_of(const frame *frame) {
    return sizeof(*frame) + frame->writer + frame->name + (uint64_t)frame->content;
}

/* ---------------------------------------------------------------- a transport's functions ------------------------ */

static int append(int file, uint64_t *place, const ld_sync_record *record) {
    ld_bytes writer = record->writer, name = record->name, content = record->content;
    frame frame = {(uint32_t)content.count, (uint8_t)writer.count, (uint8_t)name.count, 0, 0};
    struct iovec parts[4] = {{&frame, sizeof(frame)}, {(void *)writer.data, writer.count},
        {(void *)name.data, name.count}, {(void *)content.data, content.count}};
    return write_at(file, place, parts, content.count > 0 ? 4 : 3);
}

static ld_status publish(
    void *context, const ld_sync_record *const *records, size_t count, const ld_error_sink *error) {
    transport *self = context;
    int file;
    head head;
    for (size_t i = 0; i < count; i++) {
        if (records[i]->content.count <= LARGEST) continue;
        return fail(self, error, LD_ERROR_VALUE_TOO_LARGE, "a record is too large");
    }
    if (open_log(self, &file, &head, error) != LD_OK) return LD_FAILED;
    uint64_t place = head.end;
    int is_written = 1;
    for (size_t i = 0; i < count && is_written; i++) is_written = append(file, &place, records[i]);
    /* The end moves when the records are on the disk, so that no reader ever sees part of one. */
    is_written = is_written && fdatasync(file) == 0;
    ld_status status = is_written ? LD_OK : fail_with_errno(self, error, LD_ERROR_FILE);
    if (is_written
        && (!write_bytes(file, offsetof(struct head, end), &place, sizeof(place)) || fdatasync(file) != 0)) {
        status = fail(self, error, LD_ERROR_DURABILITY_UNKNOWN, strerror(errno));
    }
    close(file);
    return status;
}

static int is_named(const char *found, const frame *frame, ld_bytes writer, ld_bytes name) {
    return frame->writer == writer.count && memcmp(found, writer.data, writer.count) == 0 && frame->name == name.count
        && memcmp(found + writer.count, name.data, name.count) == 0;
}

static ld_status remove_records(
    void *context, ld_bytes writer, const ld_bytes *names, size_t count, const ld_error_sink *error) {
    transport *self = context;
    int file;
    head head;
    frame frame;
    char found[128];
    if (open_log(self, &file, &head, error) != LD_OK) return LD_FAILED;
    ld_status status = LD_OK;
    for (uint64_t place = sizeof(head); place < head.end && status == LD_OK; place += size_of(&frame)) {
        if (!read_frame(file, &frame, place, head.end)
            || !read_at(file, place + sizeof(frame), found, (size_t)frame.writer + frame.name)) {
            status = fail(self, error, LD_ERROR_CORRUPT, "the log is damaged");
            break;
        }
        size_t i = 0;
        while (i < count && !is_named(found, &frame, writer, names[i])) i++;
        frame.is_removed = 1;
        if (i < count && !write_bytes(file, place, &frame, sizeof(frame))) {
            status = fail_with_errno(self, error, LD_ERROR_FILE);
        }
    }
    close(file);
    return status;
}

/* Passes the records in a part of the log; `*place` is then the offset after the last record passed. */
static ld_status pass(
    transport *self, int file, uint64_t *place, uint64_t end, void *context,
    int32_t (*take)(void *, const ld_sync_record *), const ld_error_sink *error) {
    frame frame;
    for (int is_asked_to_stop = 0; *place < end && !is_asked_to_stop; *place += size_of(&frame)) {
        if (!read_frame(file, &frame, *place, end)) return fail(self, error, LD_ERROR_CORRUPT, "the log is damaged");
        if (frame.is_removed) continue;
        size_t count = (size_t)size_of(&frame) - sizeof(frame);
        char *bytes = malloc(count);
        if (bytes == NULL || !read_at(file, *place + sizeof(frame), bytes, count)) {
            free(bytes);
            return fail_with_errno(self, error, LD_ERROR_STORE_UNAVAILABLE);
        }
        char *name = bytes + frame.writer;
        ld_sync_record record = {.size = sizeof(record), .writer = {bytes, frame.writer}, .name = {name, frame.name},
            .content = {name + frame.name, frame.content}};
        is_asked_to_stop = take(context, &record) != 0;
        free(bytes);
    }
    return LD_OK;
}

static ld_status fetch(
    void *context, ld_bytes since, void *taker, int32_t (*take)(void *, const ld_sync_record *), const ld_sink *sink,
    const ld_error_sink *error) {
    transport *self = context;
    int file;
    head head;
    position reached;
    if (open_log(self, &file, &head, error) != LD_OK) return LD_FAILED;
    flock(file, LOCK_UN); /* up to its end only marks change, and nothing is locked while `take` runs */
    reached = (position){head.id, sizeof(head), 0};
    if (since.count == sizeof(reached)) memcpy(&reached, since.data, sizeof(reached));
    ld_status status = LD_OK;
    if (since.count > 0
        && (since.count != sizeof(reached) || reached.check != check_of(reached) || reached.id != head.id
            || reached.place < sizeof(head) || reached.place > head.end)) {
        status = fail(self, error, LD_ERROR_POSITION_LOST, "this is not a position in the log");
    }
    if (status == LD_OK) status = pass(self, file, &reached.place, head.end, taker, take, error);
    close(file);
    if (status != LD_OK) return status;
    reached.check = check_of(reached);
    return sink->write(sink->context, (ld_bytes){&reached, sizeof(reached)}) == 0 ? LD_OK : LD_STOPPED;
}

/* ---------------------------------------------------------------- subscriptions ---------------------------------- */

typedef struct subscription {
    ld_sync_subscriber subscriber;
    int changes, ends[2]; /* inotify(7), and a pipe that is closed at the end */
    pthread_t thread;
} subscription;

/* Notifies of every change in the folder. The last change of a publication is that of the log's end. */
static void *watch(void *context) {
    subscription *self = context;
    struct pollfd files[2] = {{.fd = self->changes, .events = POLLIN}, {.fd = self->ends[0], .events = POLLIN}};
    char events[4096];
    for (;;) {
        if (poll(files, 2, -1) < 0 && errno != EINTR) return NULL;
        if (files[1].revents != 0) return NULL;
        if (files[0].revents == 0) continue;
        if (read(self->changes, events, sizeof(events)) > 0) {
            self->subscriber.notify(self->subscriber.context, LD_SYNC_CHANGED);
        }
    }
}

static void free_subscription(subscription *self) {
    if (self->changes >= 0) close(self->changes);
    if (self->ends[0] >= 0) close(self->ends[0]);
    if (self->ends[1] >= 0) close(self->ends[1]);
    free(self);
}

static ld_status subscribe(
    void *context, const ld_sync_subscriber *subscriber, void **token, const ld_error_sink *error) {
    transport *self = context;
    subscription *made = malloc(sizeof(*made));
    if (made == NULL) return fail(self, error, LD_ERROR_NO_SPACE, "there is no memory for a subscription");
    *made = (subscription){.subscriber = *subscriber, .changes = inotify_init1(IN_CLOEXEC), .ends = {-1, -1}};
    uint32_t changes = IN_MODIFY | IN_CREATE | IN_MOVED_TO;
    if (made->changes < 0 || inotify_add_watch(made->changes, self->folder, changes) < 0
        || pipe2(made->ends, O_CLOEXEC) != 0
        || (errno = pthread_create(&made->thread, NULL, watch, made)) != 0) {
        ld_status status = fail_with_errno(self, error, LD_ERROR_STORE_UNAVAILABLE);
        free_subscription(made);
        return status;
    }
    *token = made;
    return LD_OK;
}

/* No notification is running once the thread has ended. */
static void unsubscribe(void *context, void *token) {
    (void)context;
    subscription *self = token;
    close(self->ends[1]);
    self->ends[1] = -1;
    pthread_join(self->thread, NULL);
    free_subscription(self);
}

static void cancel_calls(void *context) { atomic_fetch_add(&((transport *)context)->cancels, 1); }

/* ---------------------------------------------------------------- the plugin ------------------------------------- */

/* Reads the text of a member of a flat JSON object; 0 if it is too long, or has more than ASCII in \u. */
static int read_text(ld_bytes json, const char *member, char *text, size_t room) {
    char quoted[64];
    int length = snprintf(quoted, sizeof(quoted), "\"%s\":\"", member);
    const char *at = memmem(json.data, json.count, quoted, (size_t)length), *end = (const char *)json.data + json.count;
    if (at == NULL) return 0;
    for (at += length; at < end && *at != '"' && room > 1; room--) {
        unsigned code;
        if (*at != '\\' || ++at == end) *text++ = *at++;
        else if (*at != 'u') *text++ = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at, at++;
        else if (end - at < 5 || sscanf(at, "u%4x", &code) != 1 || code == 0 || code > 127) return 0;
        else *text++ = (char)code, at += 5;
    }
    *text = 0;
    return at < end && *at == '"';
}

static void make_folder(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

static void close_transport(void *self) { free(self); }

static ld_status open_transport(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)host;
    transport *made = calloc(1, sizeof(*made));
    if (made == NULL) return LD_FAILED;
    if (!read_text(options, "folder", made->folder, sizeof(made->folder))) {
        ld_status status = fail(made, error, LD_ERROR_INVALID_OPTIONS, "the option 'folder' is not a usable path");
        free(made);
        return status;
    }
    snprintf(made->file, sizeof(made->file), "%s/csync.log", made->folder);
    make_folder(made->folder); /* if that fails, later calls report why */
    made->table = (ld_sync){
        .size = sizeof(made->table), .largest_record = LARGEST, .self = made, .publish = publish,
        .remove = remove_records, .fetch = fetch, .subscribe = subscribe, .unsubscribe = unsubscribe,
        .cancel = cancel_calls, .close = close_transport};
    *table = &made->table;
    return LD_OK;
}

#define TEXT(literal) {literal, sizeof(literal) - 1}

static const ld_component component = {
    .size = sizeof(component), .kind = LD_KIND_SYNC, .id = TEXT("c-sync"),
    .summary = TEXT("carries records between the devices that use one local folder"),
    .options = TEXT("[{\"name\":\"folder\",\"type\":\"path\",\"default\":\"${data}/c-sync\","
                    "\"help\":\"the folder with the log\"}]"),
    .open = open_transport};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof(plugin), .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("CSync"), .version = TEXT("0.1.0"), .components = components, .component_count = 1};

LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return &plugin; }
