/*
 * The LocalData plugin ABI, major 1, frozen since minor 1. A host of any 1.x loads a plugin of any 1.y, from 1.1 on.
 * Minor 0 was provisional and had other structs: a plugin of minor 0 is refused. "How this ABI grows", below, says how
 * a later minor may differ from this one.
 *
 * A plugin is a shared library that exports one C function:
 *
 *     const void *localdata_plugin_v1(void);      -> a const ld_plugin *
 *
 * The major version is part of the name. A library for another major lacks the symbol, and is refused before any of its
 * code runs. The function may be called more than once and from any thread. It returns the same pointer each time,
 * never fails, and does no work that may block. What it points to is valid until the process ends. A library is never
 * unloaded.
 *
 * How to read this header
 *
 *   tags                at a function say on which thread it is called, and whether it may wait:
 *                       [any thread]            from any thread, many calls at once; returns without waiting
 *                       [..., may wait]         for the disk, a lock, the network or a person. A host makes such calls
 *                                               on a thread of its own
 *                       [..., waits as `latency` says]
 *                                               see LD_LATENCY_...
 *                       [one thread at a time]  any thread, but no two calls about the same transaction or stream at
 *                                               once
 *                       [the call's thread]     only on the thread of the call that lent the struct, until it returns
 *                       A call runs on the thread that makes it, and is done when it returns. There are no completions.
 *   bytes and strings   are (pointer, count), not terminated. Strings are UTF-8. They are borrowed: valid until the
 *                       call that carries them returns, unless said otherwise. With a count of 0, the pointer has no
 *                       meaning, and may be NULL. More than 4 GiB at once is refused.
 *   structs             except ld_bytes cross the boundary by pointer and start with `size`, the number of bytes that
 *                       their writer knows: sizeof in its language. They lie in memory as C aligns them.
 *   pointers            are not NULL unless said otherwise. Nor is a handle, token, transaction, stream or lock that a
 *                       function writes. The host passes those back unchanged, and never looks behind them.
 *   results             go to a sink, a function of the caller's that copies what it needs before it returns. A sink
 *                       never calls back into the component. While a component calls a sink, it holds no lock that its
 *                       other functions need. Sinks, sources and error sinks belong to the call that lends them: they
 *                       are used on its thread, until it returns. A host refuses and logs any other use.
 *   status              Functions return an ld_status. Only LD_FAILED comes with a report: exactly one, through the
 *                       ld_error_sink, before the function returns. An error sink may be NULL. A function returns
 *                       LD_ABSENT, LD_STOPPED and LD_EXPIRED only where it says so. A host takes a breach of these
 *                       rules for a failure of the component.
 *   JSON                Readers ignore members that they do not know.
 *   secrets             Values may be secrets. They must not appear in messages or logs, and a component clears its own
 *                       buffers that held one before it frees them.
 *
 * How this ABI grows
 *
 *   what never changes  The entry and its name; ld_bytes; every member, function, number and id of this header: its
 *                       place, type, meaning, threads and limits. A later minor never tightens what a minor requires of
 *                       a component, and never withdraws what it promises to one. Otherwise the major changes, and the
 *                       entry's name with it.
 *   what a minor adds   Members at the end of a struct; abilities and services under new ids; kinds, algorithms and
 *                       error codes under new numbers; flags; meanings for `reserved` members; members of JSON objects.
 *                       It is always right to ignore an addition. What must not be ignored is an ability with an id of
 *                       its own, and is used only with a component that offers it.
 *   sizes               The size of a struct is a multiple of the size of a pointer, at least what the struct has in
 *                       minor 1 (the ld_..._least_size of this header) and at most LD_LARGEST_STRUCT. The host refuses
 *                       others. A reader looks at no more than it knows: it copies min(size, its own sizeof) bytes into
 *                       a zeroed struct of its own, once, or asks LD_HAS before it reads a member that minor 1 did not
 *                       have. A member behind `size` counts as 0 or NULL. A function that is NULL is not offered. The
 *                       members of minor 1 are always there: a plugin that knows only those need not check a size.
 *   tags of structs     carry a revision (`struct ld_store_r1`). A struct that grows gets the next one. Two layouts
 *                       never share a tag, because an importer such as Swift's knows one type per tag in a process.
 *   ids                 of abilities and services end in a revision, too. A table grows at its end and keeps its id.
 *                       Another meaning is another id ("localdata.store.batch/2"), and a store may offer both.
 *   unknown numbers     A reader keeps an error code, lists a component kind and skips an algorithm that it does not
 *                       know. It ignores unknown flags that a component declares. It takes an unknown LD_SYNC_...
 *                       notice for LD_SYNC_CHANGED, and an unknown log level for the nearest. Statuses, latencies,
 *                       conditions, value states and the flags of a request are complete: a later minor adds to them
 *                       only for new functions. So an unknown one is refused, by a component with
 *                       LD_ERROR_UNSUPPORTED.
 *   reserved members    are 0, and readers ignore them. Padding has no meaning.
 *   a newer plugin      finds out what the host can do by its services and sizes, not by a version. If the plugin
 *                       cannot work without something that is missing, `open` fails with LD_ERROR_UNSUPPORTED and a
 *                       hint.
 */
#ifndef LOCALDATA_PLUGIN_H
#define LOCALDATA_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LD_ABI_MAJOR 1
#define LD_ABI_MINOR 1

/* No struct of this major will be larger, in bytes. */
#define LD_LARGEST_STRUCT 4096

/* The bytes of a struct from its start through a member. */
#define LD_SIZE_THROUGH(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* Whether a struct of the other side has a member that came after minor 1. */
#define LD_HAS(pointer, member)                                                                                        \
    ((size_t)((const char *)(&(pointer)->member + 1) - (const char *)(pointer)) <= (size_t)(pointer)->size)

/* "LDPL", as a little-endian number. */
#define LD_MAGIC 0x4c50444cu

#ifdef __swift__
#define LD_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define LD_SENDABLE
#endif

/* The one exported symbol of a C or C++ plugin:  LD_EXPORT const void *localdata_plugin_v1(void) { ... }
 * Other languages export it in their own way: Zig by `export fn localdata_plugin_v1() ?*const anyopaque`, Rust by
 * `#[no_mangle] pub extern "C" fn localdata_plugin_v1() -> *const c_void`. */
#if defined(__GNUC__)
#define LD_VISIBLE __attribute__((visibility("default")))
#else
#define LD_VISIBLE
#endif
#ifdef __cplusplus
#define LD_EXPORT extern "C" LD_VISIBLE
#else
#define LD_EXPORT LD_VISIBLE
#endif

/* ---------------------------------------------------------------- bytes, status, errors ------------------------- */

typedef struct ld_bytes_r1 {
    const void *data;
    size_t count;
} ld_bytes;

typedef int32_t ld_status;
#define LD_OK 0      /* done */
#define LD_ABSENT 1  /* done; no value is stored under the key. Not a failure: nothing is reported. */
#define LD_STOPPED 2 /* the caller's sink or source asked to stop; nothing has changed */
#define LD_EXPIRED 3 /* done; the stored value has expired and counts as absent. From a store with LD_STORE_EXPIRY only,
                        and from a function that reads one value, in place of LD_ABSENT. The host then asks to discard
                        the value. */
#define LD_FAILED (-1) /* not done; the error sink got a report */

/* One number per StorageError code. A number is never used again. */
typedef int32_t ld_error_code; /* above 0; for the host, any other number is LD_ERROR_UNKNOWN */
#define LD_ERROR_NOT_FOUND 1
#define LD_ERROR_SERIALIZATION 2
#define LD_ERROR_DESERIALIZATION 3
#define LD_ERROR_SECURITY 4
#define LD_ERROR_KEYCHAIN 5
#define LD_ERROR_FILE 6
#define LD_ERROR_INVALID_SUITE 7
#define LD_ERROR_INVALID_APP_GROUP 8
#define LD_ERROR_TOO_LARGE_FOR_SYNC 9
#define LD_ERROR_UNREGISTERED_KEY 10
#define LD_ERROR_DUPLICATE_KEYS 11
#define LD_ERROR_MISSING_DESCRIPTION 12
#define LD_ERROR_PHONE_ONLY 13
#define LD_ERROR_WATCH_ONLY 14
#define LD_ERROR_UNKNOWN 15
#define LD_ERROR_INVALID_ADDRESS 32
#define LD_ERROR_VALUE_TOO_LARGE 33
#define LD_ERROR_STORE_UNAVAILABLE 34
#define LD_ERROR_BUSY 35
#define LD_ERROR_TIMED_OUT 36
#define LD_ERROR_CANCELLED 37
#define LD_ERROR_CORRUPT 38
#define LD_ERROR_UNSUPPORTED 39
#define LD_ERROR_INVALID_CONFIGURATION 40
#define LD_ERROR_INVALID_OPTIONS 41
#define LD_ERROR_PLUGIN_REFUSED 42
#define LD_ERROR_COMPONENT_NOT_FOUND 43
#define LD_ERROR_COMPONENT_AMBIGUOUS 44
#define LD_ERROR_PERMISSION_DENIED 45
#define LD_ERROR_NO_SPACE 46
#define LD_ERROR_DURABILITY_UNKNOWN 47
#define LD_ERROR_CANNOT_OPEN 48
#define LD_ERROR_CONFLICT 49
#define LD_ERROR_POSITION_LOST 50
/* One number per MigrationError code; migration packs report these, too. */
#define LD_ERROR_MIGRATION_VALIDATION 64
#define LD_ERROR_MIGRATION_TRANSFORMATION 65
#define LD_ERROR_MIGRATION_STORAGE 66
#define LD_ERROR_MIGRATION_CONDITION 67
#define LD_ERROR_MIGRATION_IN_PROGRESS 68
#define LD_ERROR_MIGRATION_SOURCE_NOT_FOUND 69
#define LD_ERROR_MIGRATION_INCOMPATIBLE_TYPES 70
#define LD_ERROR_MIGRATION_AGGREGATION 71
#define LD_ERROR_MIGRATION_DECODING 72
#define LD_ERROR_MIGRATION_NO_PATH 73
#define LD_ERROR_MIGRATION_FINAL_TYPE 74
#define LD_ERROR_MIGRATION_CONFLICT 75
#define LD_ERROR_MIGRATION_NEWER_REVISION 76
#define LD_ERROR_MIGRATION_DEPENDENCY 77
#define LD_ERROR_MIGRATION_PACK 78
#define LD_ERROR_MIGRATION_AMBIGUOUS 79
#define LD_ERROR_MIGRATION_NEWER_VERSION 80
#define LD_ERROR_MIGRATION_CYCLE 81
#define LD_ERROR_MIGRATION_DUPLICATE 82

/* Receives the report of a failure. `message` names what failed and on which object, `hint` what to do next; `hint`
 * may be empty. Both are borrowed for the call. [the calling thread; never waits] */
typedef struct LD_SENDABLE ld_error_sink_r1 {
    uint32_t size;
    void *context;
    void(LD_SENDABLE *report)(void *context, ld_error_code code, ld_bytes message, ld_bytes hint);
} ld_error_sink;

/* Receives results. `write` is called as often as the function that got the sink says. It returns 0 to continue; any
 * other number asks the component to stop and to return LD_STOPPED. [the calling thread; never waits] */
typedef struct LD_SENDABLE ld_sink_r1 {
    uint32_t size;
    void *context;
    int32_t(LD_SENDABLE *write)(void *context, ld_bytes bytes);
} ld_sink;

/* Provides a value in pieces. `read` fills at most `capacity` bytes and returns their number, 0 at the end, or a
 * negative number to give up: the component then returns LD_STOPPED, and the old value stays. [the calling thread;
 * may wait] */
typedef struct LD_SENDABLE ld_source_r1 {
    uint32_t size;
    void *context;
    int64_t(LD_SENDABLE *read)(void *context, void *buffer, size_t capacity);
} ld_source;

/* ---------------------------------------------------------------- the host, as a plugin sees it ----------------- */

/* Given to `open`; valid until the process ends. */
typedef struct LD_SENDABLE ld_host_r1 {
    uint32_t size;
    void *context;
    ld_bytes name;    /* "ld-host", or the app's name; valid until the process ends */
    ld_bytes version; /* likewise */
    /* [any thread] A service by id, or NULL. Its table is valid until the process ends. The ids are below. */
    const void *(LD_SENDABLE *extension)(void *context, ld_bytes id);
} ld_host;

/* Service: the host's log. `level` is 0 for debug, 1 for info, 2 for a warning and 3 for an error. */
#define LD_HOST_LOG "localdata.host.log/1"
typedef struct LD_SENDABLE ld_host_log_r1 {
    uint32_t size;
    void *context;
    /* [any thread] The lowest level that the host keeps. A component need not make a message below it. */
    int32_t(LD_SENDABLE *threshold)(void *context);
    /* [any thread] Logs a message: names, never values. */
    void(LD_SENDABLE *log)(void *context, int32_t level, ld_bytes label, ld_bytes message);
} ld_host_log;

/* ---------------------------------------------------------------- plugin and components ------------------------- */

typedef int32_t ld_kind;
#define LD_KIND_STORAGE 1
#define LD_KIND_CRYPTO 2
#define LD_KIND_SYNC 3
#define LD_KIND_MIGRATION 4

/* One thing that a plugin offers. All members stay valid until the process ends. */
typedef struct LD_SENDABLE ld_component_r1 {
    uint32_t size;
    ld_kind kind;
    ld_bytes id;      /* lower case letters, digits, '-' and '.', at most 64 bytes: "file", "org.example.cloud" */
    ld_bytes summary; /* one line for people */
    /* The options that `open` takes: a JSON array of {"name", "type", "default", "help", "allowed", "required"}; a
     * count of 0 is an empty array. `type` is "string", "integer", "number", "boolean", "path" or "list" (a JSON
     * array). The host refuses an option that is not listed before `open`. Defaults and paths may use ${data},
     * ${cache}, ${state} and ${config}, which the host replaces by its folders. A "string" may have "secret": true.
     * Then a configuration has the address of a value of the keychain, and `open` gets the value; a host that does
     * not know this member passes the address. A "string" may have "pattern", a regular expression that the whole
     * value must match. `open` checks it as well, since not every host does. */
    ld_bytes options;
    void *context; /* handed to `open` */
    /* [any thread, may wait] Opens the component, and writes its table to `*table`: a const ld_store * for
     * LD_KIND_STORAGE, a const ld_crypto * for LD_KIND_CRYPTO, a const ld_sync * for LD_KIND_SYNC, a const
     * ld_migration_pack * for LD_KIND_MIGRATION. `options` is a JSON object with every option of the schema. Called
     * once for each configured store, provider, transport or pack. */
    ld_status(LD_SENDABLE *open)(
        void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error);
} ld_component;

typedef struct LD_SENDABLE ld_plugin_r1 {
    uint32_t size;
    uint32_t magic;     /* LD_MAGIC */
    uint16_t abi_major; /* LD_ABI_MAJOR */
    uint16_t abi_minor; /* LD_ABI_MINOR. 0 is refused; others are shown to people only: sizes say what is there */
    ld_bytes name;      /* "FileStore" */
    ld_bytes version;   /* the plugin's own, semantic */
    /* Pointers, not structs, so that each component has a size of its own. At most 64. */
    const ld_component *const *components;
    size_t component_count;
} ld_plugin;

/* ---------------------------------------------------------------- storage --------------------------------------- */

/* A place for names. Two values are the same place if domain and scope are equal byte for byte. */
typedef struct ld_namespace_r1 {
    uint32_t size;
    ld_bytes domain; /* "userDefaults"; letters, digits, '.', '_' and '-', at most 64 bytes */
    ld_bytes scope;  /* suite, service, group or folder; any UTF-8 without NUL, at most 1024 bytes, may be empty */
    /* Where a store that keeps files should keep this place: an absolute path, or empty for the store's own choice.
     * Other stores ignore it. */
    ld_bytes directory;
} ld_namespace;

/* A key's full address. */
typedef struct ld_address_r1 {
    uint32_t size;
    const ld_namespace *place;
    ld_bytes name; /* any UTF-8 without NUL, 1 to 1024 bytes, compared byte for byte */
} ld_address;

/* What is kept beside a value. An empty string means unknown. */
typedef struct ld_attributes_r1 {
    uint32_t size;
    ld_bytes content_type; /* "application/json" */
    ld_bytes serializer;   /* "json", "plist", "text", "data", "custom" */
    ld_bytes version_tag;  /* of the value's type */
    ld_bytes app_version;  /* of the app that wrote it */
    ld_bytes owner;
    uint64_t value_size;   /* bytes; reading only */
    int64_t modified;      /* nanoseconds since 1970 UTC, 0 for unknown; reading only */
    int64_t expires;       /* nanoseconds since 1970 UTC; from then on the value is absent. 0: never. For stores with
                              LD_STORE_EXPIRY; others refuse it with LD_ERROR_UNSUPPORTED */
} ld_attributes;

#define LD_LATENCY_MEMORY 0      /* never waits */
#define LD_LATENCY_DISK 1        /* get and exists read local files and wait for no lock; the rest may wait */
#define LD_LATENCY_NETWORK 2     /* everything may wait */
#define LD_LATENCY_INTERACTIVE 3 /* everything may wait for a person */

#define LD_STORE_DURABLE 1u /* LD_OK from set and remove means: survives a power loss */
#define LD_STORE_SHARED 2u  /* other processes with the same options see the same values, safely */
/* A keychain: it protects values by itself, so that the keychain domain may use it without sealing. */
#define LD_STORE_KEYCHAIN 4u
/* Keeps each folder that a place names as its `directory` apart: one batch, transaction or bulk `apply` is never about
 * two folders, nor about a folder and a place that the store chose itself. */
#define LD_STORE_FOLDERS_APART 8u

/* What a keychain enforces: a bit for each accessibility, and from bit 16 on a bit for each access control, in this
 * order: whenUnlocked, afterFirstUnlock, whenUnlockedThisDeviceOnly, afterFirstUnlockThisDeviceOnly, always,
 * alwaysThisDeviceOnly, whenPasscodeSetThisDeviceOnly; userPresence, biometryAny, biometryCurrentSet, devicePasscode,
 * biometryAnyOrDevicePasscode, biometryCurrentSetOrDevicePasscode. */
#define LD_ENFORCES_ACCESSIBILITY(index) (1u << (index))
#define LD_ENFORCES_ACCESS_CONTROL(index) (1u << (16 + (index)))

/*
 * An open store.
 *
 * `handle` stands for one resolved address. Each successful `resolve` is paired with one `release`. Until then many
 * threads may use the handle at once. It names the address, not the value: it stays valid when a value is stored,
 * changed or removed. All functions but `extension` and `close` are required.
 *
 * Consistency: after `set` returned LD_OK, `get` on any thread returns that value or a later one. A reader sees one
 * whole value, never a mixture. A failed `set` leaves the old value, with two exceptions: after
 * LD_ERROR_DURABILITY_UNKNOWN the new value is in place, and after LD_ERROR_TIMED_OUT it is unknown which.
 */
typedef struct LD_SENDABLE ld_store_r1 {
    uint32_t size;
    uint32_t latency;         /* LD_LATENCY_... */
    uint32_t flags;           /* LD_STORE_... */
    uint32_t enforces;        /* LD_ENFORCES_...; 0 for a store that is no keychain */
    uint64_t largest_value;   /* bytes; 0 means no limit of the store's own */
    void *self;               /* handed to every function */

    /* [any thread] Turns an address into a handle. Does not check whether a value exists. */
    ld_status(LD_SENDABLE *resolve)(
        void *self, const ld_address *address, void **handle, const ld_error_sink *error);
    /* [any thread] Releases a handle. Never fails. */
    void(LD_SENDABLE *release)(void *self, void *handle);
    /* [any thread, waits as `latency` says] Writes the whole value to the sink in exactly one call; LD_ABSENT without
     * a call if there is no value. */
    ld_status(LD_SENDABLE *get)(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error);
    /* [any thread, waits as `latency` says] LD_OK if a value is stored, even an empty one; LD_ABSENT if not. */
    ld_status(LD_SENDABLE *exists)(void *self, void *handle, const ld_error_sink *error);
    /* [any thread, may wait] Stores a value in place of the old one. `attributes` may be NULL. A store that keeps no
     * attributes ignores them; a store that keeps them replaces the old ones. */
    ld_status(LD_SENDABLE *set)(
        void *self, void *handle, ld_bytes value, const ld_attributes *attributes, const ld_error_sink *error);
    /* [any thread, may wait] Removes the value; LD_ABSENT if there was no value. */
    ld_status(LD_SENDABLE *remove)(void *self, void *handle, const ld_error_sink *error);
    /* [any thread] An optional ability by id, or NULL. The table is valid as long as the store. */
    const void *(LD_SENDABLE *extension)(void *self, ld_bytes id);
    /* [one thread, may wait] Ends the store. A host that knows when no call runs and no handle is held calls it, at
     * most once. Other hosts leave the store open until the process ends. */
    void(LD_SENDABLE *close)(void *self);
} ld_store;

/* ---------------------------------------------------------------- abilities of a store -------------------------- */

/* Enumeration with prefix and paging. */
#define LD_STORE_ENUMERATION "localdata.store.enumeration/1"
typedef struct LD_SENDABLE ld_store_enumeration_r1 {
    uint32_t size;
    /* [any thread, may wait] Writes the names in `place` that start with `prefix` and come after `after`, one per
     * call of the sink, ascending by their bytes, at most `limit`. An empty `after` means from the start, a `limit`
     * of 0 all. A name that exists during the whole call is written exactly once. A name that is added or removed
     * meanwhile may be written or not. */
    ld_status(LD_SENDABLE *names)(
        void *self, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t limit, const ld_sink *sink,
        const ld_error_sink *error);
    /* [any thread, may wait] Writes every place that the store chose itself (no `directory`) and that holds a value:
     * domain, a zero byte, scope. One place per call of the sink, in any order. */
    ld_status(LD_SENDABLE *places)(void *self, const ld_sink *sink, const ld_error_sink *error);
} ld_store_enumeration;

/* Attributes of values. A store with this ability keeps the attributes that `set` gets. */
#define LD_STORE_ATTRIBUTES "localdata.store.attributes/1"
typedef struct LD_SENDABLE ld_store_attributes_r1 {
    uint32_t size;
    /* [any thread, may wait] Calls `take` once with the value's attributes, which are borrowed; LD_ABSENT if there is
     * no value. */
    ld_status(LD_SENDABLE *attributes)(
        void *self, void *handle, void *context,
        void(LD_SENDABLE *take)(void *context, const ld_attributes *attributes), const ld_error_sink *error);
} ld_store_attributes;

/* Values in pieces, for values that should not be in memory as a whole. */
#define LD_STORE_STREAMING "localdata.store.streaming/1"
typedef struct LD_SENDABLE ld_store_streaming_r1 {
    uint32_t size;
    /* [any thread, waits as `latency` says] As `get`, with as many calls of the sink as needed, and none for an empty
     * value. All pieces are of one value. */
    ld_status(LD_SENDABLE *read)(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error);
    /* [any thread, may wait] As `set`, with the value taken from the source until its end. Nothing is visible before
     * that. */
    ld_status(LD_SENDABLE *write)(
        void *self, void *handle, const ld_source *source, const ld_attributes *attributes,
        const ld_error_sink *error);
} ld_store_streaming;

/* Many changes in one step: all or none, also across a crash. */
#define LD_STORE_BATCH "localdata.store.batch/1"
typedef struct ld_operation_r1 {
    uint32_t size;
    uint32_t remove; /* 1: remove (an absent value is fine); 0: set */
    void *handle;
    ld_bytes value;
    const ld_attributes *attributes; /* may be NULL */
} ld_operation;
typedef struct LD_SENDABLE ld_store_batch_r1 {
    uint32_t size;
    /* [any thread, may wait] Applies the operations in order; the last one for a handle wins. */
    ld_status(LD_SENDABLE *apply)(
        void *self, const ld_operation *const *operations, size_t count, const ld_error_sink *error);
} ld_store_batch;

/* Notices of changes, also of those by other processes if the store is shared. */
#define LD_STORE_WATCH "localdata.store.watch/1"
typedef struct LD_SENDABLE ld_watcher_r1 {
    uint32_t size;
    void *context;
    /* [any thread, also during a set] The value under `name` was set or removed. An empty name means that any value
     * may have changed. Several changes may share one notice; no change goes without one. Never waits, and never
     * calls the store. */
    void(LD_SENDABLE *changed)(void *context, ld_bytes name);
} ld_watcher;
typedef struct LD_SENDABLE ld_store_watch_r1 {
    uint32_t size;
    /* [any thread, may wait] From now on until `unwatch`, notifies `watcher` of changes in `place` to names that
     * start with `prefix`. The store copies the struct. */
    ld_status(LD_SENDABLE *watch)(
        void *self, const ld_namespace *place, ld_bytes prefix, const ld_watcher *watcher, void **token,
        const ld_error_sink *error);
    /* [any thread, may wait] Ends a watch. After it returns, `changed` neither runs nor will run. */
    void(LD_SENDABLE *unwatch)(void *self, void *token);
} ld_store_watch;

/* Reads and changes in one step: isolated until `commit`, all or none. */
#define LD_STORE_TRANSACTIONS "localdata.store.transactions/1"
typedef struct LD_SENDABLE ld_store_transactions_r1 {
    uint32_t size;
    /* [any thread, may wait] Begins a transaction. One thread at a time uses it, and exactly one of `commit` and
     * `rollback` ends it. */
    ld_status(LD_SENDABLE *begin)(void *self, void **transaction, const ld_error_sink *error);
    /* [one thread at a time, may wait] As the store's, within the transaction: it sees its own changes, nobody else
     * does. */
    ld_status(LD_SENDABLE *get)(
        void *self, void *transaction, void *handle, const ld_sink *sink, const ld_error_sink *error);
    /* [one thread at a time, may wait] As the store's, within the transaction. */
    ld_status(LD_SENDABLE *set)(
        void *self, void *transaction, void *handle, ld_bytes value, const ld_attributes *attributes,
        const ld_error_sink *error);
    /* [one thread at a time, may wait] As the store's, within the transaction. */
    ld_status(LD_SENDABLE *remove)(void *self, void *transaction, void *handle, const ld_error_sink *error);
    /* [one thread at a time, may wait] Applies the changes, and ends the transaction. LD_ERROR_BUSY if someone else
     * has meanwhile changed a value that the transaction read or changed: no change is applied, and the transaction
     * has ended. */
    ld_status(LD_SENDABLE *commit)(void *self, void *transaction, const ld_error_sink *error);
    /* [one thread at a time, may wait] Ends the transaction without its changes. Never fails. */
    void(LD_SENDABLE *rollback)(void *self, void *transaction);
} ld_store_transactions;

/* A check for damage. */
#define LD_STORE_CHECK "localdata.store.check/1"
typedef struct LD_SENDABLE ld_store_check_r1 {
    uint32_t size;
    /* [any thread, may wait, may take long] Checks everything that the store keeps, and changes nothing. Writes a
     * line of text for each problem, one per call of the sink: names, never values. LD_OK without a line: no problem.
     * Data that cannot be checked is a failure. Others keep using the store meanwhile. */
    ld_status(LD_SENDABLE *check)(void *self, const ld_sink *sink, const ld_error_sink *error);
} ld_store_check;

/* The repair of a store that cannot be changed because it is damaged. */
#define LD_STORE_REPAIR "localdata.store.repair/1"
typedef struct LD_SENDABLE ld_store_repair_r1 {
    uint32_t size;
    /* [any thread, may wait, may take long] Gives up what cannot be saved, and nothing else. Keeps what it gives up
     * beside the store where it can. Writes a line of text for each action, one per call of the sink. LD_OK without a
     * line: nothing needed repair. Called only when a person asks for it. */
    ld_status(LD_SENDABLE *repair)(void *self, const ld_sink *sink, const ld_error_sink *error);
} ld_store_repair;

/* Compares a value with what was recorded when it was written. A store with this ability never returns a corrupt
 * value as a valid one: `get`, `read` and the bulk `read` omit it or fail with LD_ERROR_CORRUPT, `read` at the end at
 * the latest. */
#define LD_STORE_VERIFICATION "localdata.store.verification/1"
#define LD_VALUE_UNRECORDED 0u /* nothing was recorded: another program wrote it, or nothing can be recorded there */
#define LD_VALUE_INTACT 1u     /* as it was written */
#define LD_VALUE_EDITED 2u     /* another program edited it on purpose, and it is read as it is now */
typedef struct LD_SENDABLE ld_store_verification_r1 {
    uint32_t size;
    /* [any thread, may wait] Reads the whole value, changes nothing, and writes LD_VALUE_... to `*state`; LD_ABSENT
     * if there is no value. LD_ERROR_CORRUPT if the bytes are not those that were stored. */
    ld_status(LD_SENDABLE *verify)(void *self, void *handle, uint32_t *state, const ld_error_sink *error);
} ld_store_verification;

/* Changes that depend on the stored value. Each is one step for all users of the store, and for other processes, too,
 * if it is shared. */
#define LD_STORE_CONDITIONAL "localdata.store.conditional/1"
#define LD_IF_ANYTHING 0u /* whatever is stored */
#define LD_IF_ABSENT 1u   /* only if no value is stored */
#define LD_IF_REVISION 2u /* only if the stored value has the given revision */
typedef struct LD_SENDABLE ld_store_conditional_r1 {
    uint32_t size;
    /* [any thread, waits as `latency` says] As the store's `get`, with the value's revision and attributes: calls
     * `take` once with all three, which are borrowed and of one write; LD_ABSENT if there is no value. `attributes`
     * is NULL for a store that keeps none. The revision is never 0, and differs after each write of the value, also
     * after a removal. It is the `mark` of LD_STORE_BULK. */
    ld_status(LD_SENDABLE *get)(
        void *self, void *handle, void *context,
        void(LD_SENDABLE *take)(void *context, uint64_t revision, const ld_attributes *attributes, ld_bytes value),
        const ld_error_sink *error);
    /* [any thread, may wait] As `set`, if `condition` (LD_IF_...) holds; LD_ABSENT if it does not, and nothing has
     * changed. For LD_IF_REVISION, `*revision` holds the expected revision. Writes the new revision to `*revision`.
     */
    ld_status(LD_SENDABLE *set)(
        void *self, void *handle, ld_bytes value, const ld_attributes *attributes, uint32_t condition,
        uint64_t *revision, const ld_error_sink *error);
    /* [any thread, may wait] Removes the value if it has this revision; LD_ABSENT if it has another one, or if there
     * is no value. */
    ld_status(LD_SENDABLE *remove)(void *self, void *handle, uint64_t revision, const ld_error_sink *error);
} ld_store_conditional;

/* Values that are absent from a moment on that their attributes name. A store with this ability keeps attributes.
 * From that moment on, functions that read one value return LD_EXPIRED, listings and bulk reads omit the value, a
 * transaction's `get` returns LD_ABSENT, and a change may replace the value as if it were absent. The store's own
 * clock decides. */
#define LD_STORE_EXPIRY "localdata.store.expiry/1"
typedef struct LD_SENDABLE ld_store_expiry_r1 {
    uint32_t size;
    /* [any thread, may wait] Removes the value if it has expired, so that a clock that is set back cannot bring it
     * back. */
    ld_status(LD_SENDABLE *discard)(void *self, void *handle, const ld_error_sink *error);
    /* [any thread, may wait] Removes at most `limit` expired values, and writes their number to `*removed`: values of
     * a place, or of all places that the store chose itself if `place` is NULL. Costs little if no value has expired.
     */
    ld_status(LD_SENDABLE *sweep)(
        void *self, const ld_namespace *place, uint64_t limit, uint64_t *removed, const ld_error_sink *error);
    /* [any thread, may wait] Writes the names of the values in a place that have expired and are still kept, one per
     * call of the sink, each once, in any order. */
    ld_status(LD_SENDABLE *expired)(
        void *self, const ld_namespace *place, const ld_sink *sink, const ld_error_sink *error);
} ld_store_expiry;

/* Locks among all users of the store, on any machine. For stores that are shared more widely than the host's state
 * folder; for other stores, the host locks files in that folder. */
#define LD_STORE_LOCK "localdata.store.lock/1"
typedef struct LD_SENDABLE ld_store_lock_r1 {
    uint32_t size;
    /* [any thread, may wait] Takes the lock `name` of a place; the rules for names are those of keys. A lock has one
     * holder at a time. Waits for it at most `wait` nanoseconds; LD_ABSENT if another holder had it all that time.
     * The lock ends with `unlock`, with the process, or when the store loses its holder. Another thread of the
     * process waits as another process does. */
    ld_status(LD_SENDABLE *lock)(
        void *self, const ld_namespace *place, ld_bytes name, uint64_t wait, void **lock, const ld_error_sink *error);
    /* [any thread, may wait] LD_OK while the lock is held; LD_ABSENT once the store has lost its holder. */
    ld_status(LD_SENDABLE *held)(void *self, void *lock, const ld_error_sink *error);
    /* [any thread, may wait] Releases the lock. Never fails. */
    void(LD_SENDABLE *unlock)(void *self, void *lock);
} ld_store_lock;

/* Erasure of removed values. */
#define LD_STORE_WIPING "localdata.store.wiping/1"
typedef struct LD_SENDABLE ld_store_wiping_r1 {
    uint32_t size;
    /* [any thread, may wait, may take long] Erases what is left of values that were removed or replaced, in all files
     * in which the store keeps `place`: in free space and in logs. A store cannot erase what a disk keeps of space
     * that files freed. LD_ERROR_BUSY if another process prevents it. */
    ld_status(LD_SENDABLE *wipe)(void *self, const ld_namespace *place, const ld_error_sink *error);
} ld_store_wiping;

/* Many values in one call, for work on a whole place, such as a migration or a copy. */
#define LD_STORE_BULK "localdata.store.bulk/1"

/* A value as `read` gives it. */
typedef struct ld_bulk_value_r1 {
    uint32_t size;
    uint32_t omitted;                /* not 0: `value` is empty, since it is larger than requested or corrupt */
    ld_bytes name;
    ld_bytes value;
    const ld_attributes *attributes; /* with value_size and modified; NULL if the store keeps none */
    uint64_t mark;                   /* differs after each write of the value; never 0 */
} ld_bulk_value;

/* A change as `apply` takes it. */
typedef struct ld_bulk_change_r1 {
    uint32_t size;
    uint32_t flags; /* LD_BULK_... */
    const ld_namespace *place;
    ld_bytes name;
    ld_bytes value;
    const ld_attributes *attributes; /* may be NULL */
    uint64_t mark;                   /* with LD_BULK_EXPECT: the mark that the value must have; 0: no value */
} ld_bulk_change;
#define LD_BULK_REMOVE 1u /* removes (an absent value is fine); without it: sets */
#define LD_BULK_EXPECT 2u /* only if the value has `mark` when its change is applied */

typedef struct LD_SENDABLE ld_store_bulk_r1 {
    uint32_t size;
    /* [any thread, may wait] Calls `take` with the values of `place` whose names start with `prefix` and come after
     * `after` (empty: from the start), ascending by the names' bytes. All of them are of one moment. If `take`
     * returns anything but 0, it stops and returns LD_STOPPED. Values of more than `largest` bytes come without their
     * bytes. The rules for `take` are those of a sink: it copies, and calls nothing. */
    ld_status(LD_SENDABLE *read)(
        void *self, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t largest, void *context,
        int32_t(LD_SENDABLE *take)(void *context, const ld_bulk_value *value), const ld_error_sink *error);
    /* [any thread, may wait] Applies the changes in order, all or none, also across a crash; the last one for a name
     * wins. If expectations failed, calls `conflict` with the index of exactly the changes whose expectation failed,
     * and fails with LD_ERROR_BUSY: no change is applied. */
    ld_status(LD_SENDABLE *apply)(
        void *self, const ld_bulk_change *const *changes, size_t count, void *context,
        void(LD_SENDABLE *conflict)(void *context, size_t index), const ld_error_sink *error);
} ld_store_bulk;

/* ---------------------------------------------------------------- crypto ---------------------------------------- */

/* One number per algorithm. Sealed values carry it, so a number is never used again. An algorithm is exactly what its
 * standard says, so that every provider opens what another one sealed. */
typedef int32_t ld_algorithm_id;
#define LD_AES_256_GCM 1        /* NIST SP 800-38D: 32-byte key, 12-byte nonce, 16-byte tag */
#define LD_CHACHA20_POLY1305 2  /* RFC 8439: 32, 12, 16 */
#define LD_XCHACHA20_POLY1305 3 /* draft-irtf-cfrg-xchacha-03: 32, 24, 16 */
#define LD_HKDF_SHA256 16       /* RFC 5869, extract and expand */
#define LD_PBKDF2_HMAC_SHA256 17 /* RFC 8018 */
#define LD_ARGON2ID 18          /* RFC 9106, version 0x13 */
#define LD_HKDF_SHA512 19       /* RFC 5869, extract and expand */
#define LD_PBKDF2_HMAC_SHA512 20 /* RFC 8018 */
#define LD_X25519 32            /* RFC 7748: 32-byte keys and shared secret */
#define LD_ED25519 33           /* RFC 8032: 32-byte private and public keys, 64-byte signature */

/* An algorithm that a provider offers on this machine, with its sizes in bytes. */
typedef struct LD_SENDABLE ld_algorithm_r1 {
    uint32_t size;
    ld_algorithm_id id;
    uint32_t key_size;   /* of a cipher's key, or of a private key; 0 for derivations */
    uint32_t nonce_size; /* of a cipher's nonce; 0 for the others */
    uint32_t tag_size;   /* of a cipher's tag; 0 for the others */
    uint32_t flags;      /* none so far: 0 */
    /* The most bytes of plaintext under one nonce, or of output of one derivation; 0 for no limit that counts. */
    uint64_t largest;
} ld_algorithm;

/* What a key is derived from and how. What an algorithm does not use is empty or 0. */
typedef struct LD_SENDABLE ld_derivation_r1 {
    uint32_t size;
    uint32_t lanes;      /* Argon2id: parallelism; at least 1 */
    ld_bytes secret;     /* input key material or passphrase; may be empty */
    ld_bytes salt;       /* any length; Argon2id: what the provider takes, 16 bytes always */
    ld_bytes info;       /* HKDF: context */
    uint64_t iterations; /* PBKDF2: iterations; Argon2id: passes; at least 1 */
    uint64_t memory;     /* Argon2id: bytes */
} ld_derivation;

/*
 * An open crypto provider. It computes; nonces, keys and formats are the host's.
 *
 * Many threads may call every function at once. A function waits for nothing but the processor; `derive` may take
 * seconds, as its parameters say. Outputs are buffers of the caller's, and never overlap inputs. A key, nonce, tag or
 * parameter of another size than declared is refused with LD_ERROR_UNSUPPORTED, never padded or cut. A provider clears
 * key material and plaintext in its own memory before the call returns. `seal`, `open`, `derive` and `random` are
 * required. A provider without LD_X25519 leaves the last two NULL.
 */
typedef struct LD_SENDABLE ld_crypto_r1 {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Pointers, so that each has a size of its own; each id once, at most 64. Valid as long as the provider. */
    const ld_algorithm *const *algorithms;
    size_t algorithm_count;
    void *self; /* handed to every function */

    /* [any thread] Encrypts and authenticates: writes plaintext.count bytes to `ciphertext`, and the tag to `tag`.
     * The caller never uses a nonce twice with one key. */
    ld_status(LD_SENDABLE *seal)(
        void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes plaintext,
        void *ciphertext, void *tag, const ld_error_sink *error);
    /* [any thread] Checks the tag, and decrypts ciphertext.count bytes to `plaintext`. With a wrong tag, fails with
     * LD_ERROR_CANNOT_OPEN, and `plaintext` holds only zeros. Time and message then depend on no key or plaintext. */
    ld_status(LD_SENDABLE *open)(
        void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext,
        ld_bytes tag, void *plaintext, const ld_error_sink *error);
    /* [any thread] Derives `count` bytes. */
    ld_status(LD_SENDABLE *derive)(
        void *self, ld_algorithm_id algorithm, const ld_derivation *parameters, void *output, size_t count,
        const ld_error_sink *error);
    /* [any thread] Fills `output` from a cryptographically secure generator that is safe after fork(2). */
    ld_status(LD_SENDABLE *random)(void *self, void *output, size_t count, const ld_error_sink *error);
    /* [any thread] An optional ability by id, or NULL. The table is valid as long as the provider. */
    const void *(LD_SENDABLE *extension)(void *self, ld_bytes id);
    /* [one thread, may wait] Ends the provider, as `close` of ld_store ends a store. */
    void(LD_SENDABLE *close)(void *self);
    /* [any thread] Writes the public key of a private key. */
    ld_status(LD_SENDABLE *public_key)(
        void *self, ld_algorithm_id algorithm, ld_bytes private_key, void *public_key, const ld_error_sink *error);
    /* [any thread] Writes the shared secret. A secret of zeros only (a public key of small order) is refused with
     * LD_ERROR_SECURITY. */
    ld_status(LD_SENDABLE *agree)(
        void *self, ld_algorithm_id algorithm, ld_bytes private_key, ld_bytes public_key, void *shared,
        const ld_error_sink *error);
} ld_crypto;

/* Signatures, by those algorithms of the provider that are signature algorithms: so far LD_ED25519. A private key is
 * the 32 bytes that RFC 8032 calls the private key; other texts call them the seed. */
#define LD_CRYPTO_SIGNATURES "localdata.crypto.signatures/1"
typedef struct LD_SENDABLE ld_crypto_signatures_r1 {
    uint32_t size;
    /* [any thread] Writes the 32-byte public key of a private key. */
    ld_status(LD_SENDABLE *public_key)(
        void *self, ld_algorithm_id algorithm, ld_bytes private_key, void *public_key, const ld_error_sink *error);
    /* [any thread] Writes the 64-byte signature of a message, which may be empty. It depends on the key and the
     * message only: no random number is used. */
    ld_status(LD_SENDABLE *sign)(
        void *self, ld_algorithm_id algorithm, ld_bytes private_key, ld_bytes message, void *signature,
        const ld_error_sink *error);
    /* [any thread] LD_OK if the signature is valid; otherwise LD_ERROR_CANNOT_OPEN, with a message that depends on
     * none of the inputs. All providers agree on every input, so that all devices accept what one accepts. With S, R
     * and A as in RFC 8032 (5.1.7), a signature is valid if S is less than the group's order, A and R are the only
     * encodings of their points (y less than p), neither point has a small order, and [S]B = R + [k]A holds without
     * the cofactor. */
    ld_status(LD_SENDABLE *verify)(
        void *self, ld_algorithm_id algorithm, ld_bytes public_key, ld_bytes message, ld_bytes signature,
        const ld_error_sink *error);
} ld_crypto_signatures;

/* ---------------------------------------------------------------- sync ------------------------------------------ */

/* A record that a transport carries from one device to the others; the host seals its content end to end. */
typedef struct ld_sync_record_r1 {
    uint32_t size;
    uint32_t reserved; /* 0 */
    ld_bytes writer;   /* the device that published it: 1 to 64 lower case letters, digits and '-' */
    ld_bytes name;     /* 1 to 64 of the same; a writer has one record of each name */
    ld_bytes content;  /* may be empty */
} ld_sync_record;

#define LD_SYNC_CHANGED 0     /* there may be something new to fetch */
#define LD_SYNC_REACHABLE 1   /* the other side can be reached; there may be something new to fetch */
#define LD_SYNC_UNREACHABLE 2 /* it cannot be reached; the transport keeps trying */

typedef struct LD_SENDABLE ld_sync_subscriber_r1 {
    uint32_t size;
    void *context;
    /* [any thread] `notice` is one of LD_SYNC_... Never waits, and never calls the transport. */
    void(LD_SENDABLE *notify)(void *context, int32_t notice);
} ld_sync_subscriber;

/*
 * An open sync transport.
 *
 * Only the device of that name publishes as a writer, and only one of its processes at a time. So no two processes
 * publish the same record. A transport guarantees:
 *
 *   never lost     After `publish` returned LD_OK, every device gets the record, or a later one of the same writer and
 *                  name, from a fetch since any earlier position; also after a power loss on this side. Where something
 *                  else carries the records, such as a program that copies a folder, this holds once it has.
 *   order          The records of one writer arrive in the order of their publication. Records that a later one of the
 *                  same name replaced may be omitted. Records of different writers have no order.
 *   last counts    The last record of a name that a fetch returns is the newest one; of a removed name it is the last
 *                  one before the removal, or the fetch returns none.
 *   at least once  A record may arrive again, but never changed, and never in part.
 *   own records    A fetch returns them as those of others.
 *
 * Many threads may call every function at once. `open` succeeds even if the other side cannot be reached; the functions
 * then fail with LD_ERROR_STORE_UNAVAILABLE until it can. All functions but `extension` and `close` are required.
 */
typedef struct LD_SENDABLE ld_sync_r1 {
    uint32_t size;
    uint32_t reserved;       /* 0 */
    uint64_t largest_record; /* the most bytes of one record's content; at least 262,144 */
    void *self;              /* handed to every function */

    /* [any thread, may wait] Publishes 1 to 1,024 records of one writer, in order and durably: all of them, or the
     * first ones if it fails. To publish a record again is harmless. LD_ERROR_DURABILITY_UNKNOWN: unknown which
     * records were published. */
    ld_status(LD_SENDABLE *publish)(
        void *self, const ld_sync_record *const *records, size_t count, const ld_error_sink *error);
    /* [any thread, may wait] Removes 1 to 1,024 records of a writer, by name. No fetch has to return them any more. A
     * missing record is no failure. */
    ld_status(LD_SENDABLE *remove)(
        void *self, ld_bytes writer, const ld_bytes *names, size_t count, const ld_error_sink *error);
    /* [any thread, may wait] Calls `take` with the records that were published after the position `since` (empty:
     * from the beginning), until no record is left or `take` returns anything but 0. In both cases it then writes the
     * position behind the last record that `take` got, 1 to 4,096 bytes, to `position` in exactly one call, and
     * returns LD_OK. LD_ERROR_POSITION_LOST: it cannot continue from `since`, and the host fetches from the
     * beginning. The rules for `take` are those of a sink: it copies, and calls nothing. */
    ld_status(LD_SENDABLE *fetch)(
        void *self, ld_bytes since, void *context,
        int32_t(LD_SENDABLE *take)(void *context, const ld_sync_record *record), const ld_sink *position,
        const ld_error_sink *error);
    /* [any thread, may wait] From now on until `unsubscribe`, notifies `subscriber` whenever there may be something
     * new to fetch, and when reachability changes. A notice may have no cause; no cause goes without a notice. The
     * transport copies the struct. */
    ld_status(LD_SENDABLE *subscribe)(
        void *self, const ld_sync_subscriber *subscriber, void **token, const ld_error_sink *error);
    /* [any thread, may wait] Ends a subscription. After it returns, `notify` neither runs nor will run. */
    void(LD_SENDABLE *unsubscribe)(void *self, void *token);
    /* [any thread] Asks all calls that wait for the other side to return soon with LD_ERROR_CANCELLED. */
    void(LD_SENDABLE *cancel)(void *self);
    /* [any thread] An optional ability by id, or NULL. No ability is defined yet. */
    const void *(LD_SENDABLE *extension)(void *self, ld_bytes id);
    /* [one thread, may wait] Ends the transport, as `close` of ld_store ends a store. */
    void(LD_SENDABLE *close)(void *self);
} ld_sync;

/* ---------------------------------------------------------------- migrations ------------------------------------ */

/*
 * A key, as a migration names it. The host keeps serializer and security with what it writes. Two keys of one address
 * that differ in them are two ways to read one value, and only the right one succeeds.
 */
typedef struct ld_migration_key_r1 {
    uint32_t size;
    ld_bytes address;    /* "keychain:com.example/token": domain[:scope]/name; a scope has %2F for / and %25 for % */
    ld_bytes serializer; /* "json", "plist", "text", "data" or "custom"; empty: "data" */
    /* How the value is protected, as JSON: "none" (with its quotes), {"cipher":"AES-256-GCM"},
     * {"cipher":"ChaCha20-Poly1305"} or {"accessibility":"whenUnlocked"}; empty: the domain's own way. */
    ld_bytes security;
} ld_migration_key;

/*
 * What a migration reads and writes: the stores as they are, with the migration's own changes on top, which nobody else
 * sees. The changes take effect only after `migrate` has returned a result with success; those of `should_migrate`
 * never do.
 *
 * A transaction belongs to one call, and to the thread of that call. From another thread, or after the call has
 * returned, every function is refused with LD_ERROR_UNSUPPORTED. After the host has cancelled the call, all functions
 * but `is_cancelled` are refused with LD_ERROR_CANCELLED.
 */
typedef struct LD_SENDABLE ld_migration_transaction_r1 {
    uint32_t size;
    uint32_t reserved; /* 0 */
    void *context;     /* handed to every function */
    uint64_t call;     /* the call's number for `cancel`, unique in the process */
    /* [the call's thread, may wait] Writes the whole value to the sink in exactly one call, opened if it is sealed;
     * LD_ABSENT if there is no value. */
    ld_status(LD_SENDABLE *get)(
        void *context, const ld_migration_key *key, const ld_sink *sink, const ld_error_sink *error);
    /* [the call's thread, may wait] LD_OK if there is a value, even an empty one; LD_ABSENT if not. */
    ld_status(LD_SENDABLE *exists)(void *context, const ld_migration_key *key, const ld_error_sink *error);
    /* [the call's thread, may wait] Stages a value. A value of a "json" or "plist" key that is no such document is
     * refused with LD_ERROR_DESERIALIZATION. */
    ld_status(LD_SENDABLE *set)(
        void *context, const ld_migration_key *key, ld_bytes value, const ld_error_sink *error);
    /* [the call's thread, may wait] Stages a removal; LD_OK also if there is no value. */
    ld_status(LD_SENDABLE *remove)(void *context, const ld_migration_key *key, const ld_error_sink *error);
    /* [the call's thread] 1 once the host has cancelled the call, 0 before. */
    int32_t(LD_SENDABLE *is_cancelled)(void *context);
    /* [the call's thread, may wait] Writes the names in `place` that start with `prefix`, one per call of the sink,
     * ascending by their bytes, with the transaction's own changes. A place is a domain and its scope as in an
     * address: "userDefaults:com.example". */
    ld_status(LD_SENDABLE *names)(
        void *context, ld_bytes place, ld_bytes prefix, const ld_sink *sink, const ld_error_sink *error);
    /* [the call's thread, may wait] Calls `take` once with the value's attributes, which are borrowed; LD_ABSENT if
     * there is no value. */
    ld_status(LD_SENDABLE *attributes)(
        void *context, const ld_migration_key *key, void *taker,
        void(LD_SENDABLE *take)(void *taker, const ld_attributes *attributes), const ld_error_sink *error);
    /* [the call's thread, may wait] As `set`, with the value's version tag; no bytes mean no tag. */
    ld_status(LD_SENDABLE *set_tagged)(
        void *context, const ld_migration_key *key, ld_bytes value, ld_bytes version_tag, const ld_error_sink *error);
} ld_migration_transaction;

/*
 * An open migration pack. A migration is called by its index in the list. Its id and revision identify what it does: an
 * id never changes its meaning, and a change of what is done is a new revision.
 *
 * The list is a JSON array of at most 1024 objects and 1 MiB:
 *
 *     id              required; the ledger knows the migration by it: 1 to 4096 bytes, no control characters
 *     revision        a whole number from 1 on; 1 if missing
 *     summary         one line for people; empty if missing
 *     fingerprint     what the migration does, as a text or a hash of one: 1 to 256 bytes, no control characters. The
 *                     ledger keeps it, and refuses to run the migration again with another fingerprint of the same
 *                     revision. For packs whose migrations are declared, where others come and go. If it is missing,
 *                     the plugin's file and the pack's options are compared
 *     effect          "brings" data to its destination, or "removes" the data there; "brings" if missing
 *     destination     required unless it is a bulk migration: a key, {"address": ..., "serializer": ..., "security":
 *                     ...} as in ld_migration_key (security not in quotes of its own), and optionally "type", "owner",
 *                     "description", "availability" ("all", "phoneOnly", "watchOnly"), "sync" ("never", "manual",
 *                     "automaticSmall"): whether the value takes part in sync, where no catalog lists the key
 *     sources         keys that data comes from, as far as they are known beforehand; none if missing
 *     dependencies    ids of migrations that run before this one, of this pack or others; none if missing
 *     conflictPolicy  if the destination has a value: "keepDestination", "dropSource", "takeSource" or "fail"; the
 *                     first if missing
 *     bulk            of a bulk migration, in place of destination and sources: {"source": range, "destination": range,
 *                     "converts": truth}, where a range is {"domain": "userDefaults:suite", "prefix": ...,
 *                     "serializer": ..., "security": ...} and stands for all values of a place whose names begin with
 *                     the prefix. Names keep what follows it. With "converts" (false if missing), `convert` makes the
 *                     new bytes
 *     container       whether it is a step of a versioned container, whose version key is the destination; false if
 *                     missing
 *
 * The host calls `should_migrate` and `migrate` on threads of its own that may wait, many at once for different
 * migrations. The other functions wait for nothing but the processor. `should_migrate` and `migrate` are required
 * unless all migrations are bulk migrations, `convert` if one of them converts. Another function may be NULL if it is
 * not offered.
 */
typedef struct LD_SENDABLE ld_migration_pack_r1 {
    uint32_t size;
    uint32_t reserved;   /* 0 */
    ld_bytes migrations; /* the list; the same bytes as long as the pack is open */
    void *self;          /* handed to every function */

    /* [any thread, may wait] LD_OK if there is something to do, LD_ABSENT if not. Writes nothing. `context` is a JSON
     * object:
     *
     *     appVersion   the version of the running app; missing if it is unknown
     *     dataVersion  the version of the app that wrote the data; missing if it is unknown
     *     device       {"platform", "role", "systemVersion", "model"}
     *     system       {"availableDiskSpace", "availableMemory", "isLowPowerModeEnabled"}: bytes, bytes and a truth
     *     history      when each migration was committed: {id: seconds since 1970 UTC}
     *     preferences  {name: any value}
     */
    ld_status(LD_SENDABLE *should_migrate)(
        void *self, size_t migration, const ld_migration_transaction *transaction, ld_bytes context,
        const ld_error_sink *error);
    /* [any thread, may wait] Runs the migration, and writes a JSON object to the sink in exactly one call:
     * {"success": truth, "migratedCount": the number of values that came to their destination, "errors": [{"code": a
     * number of an ld_error_code, "message": ..., "hint": ...}], "metadata": {...}}. Without success, the host throws
     * the first error. An error may have "underlying": {"code", "message", "hint"}. All members but success are
     * optional. LD_FAILED with a report means the same as no success with one error. The host may run the migration
     * again, also after it was stopped at any point. */
    ld_status(LD_SENDABLE *migrate)(
        void *self, size_t migration, const ld_migration_transaction *transaction, ld_bytes context,
        const ld_sink *result, const ld_error_sink *error);
    /* [any thread] Fails if the migration can never be valid. The host asks when it registers the migration, and
     * before it runs it. If NULL, the host checks that no source is better protected than the destination. */
    ld_status(LD_SENDABLE *validate)(void *self, size_t migration, const ld_error_sink *error);
    /* [any thread] Writes the new bytes of one value of a bulk migration to the sink in exactly one call. `name` is
     * the value's name at its source, with the prefix. */
    ld_status(LD_SENDABLE *convert)(
        void *self, size_t migration, ld_bytes name, ld_bytes value, const ld_sink *sink, const ld_error_sink *error);
    /* [any thread] Asks a call of `should_migrate` or `migrate` to return soon with LD_ERROR_CANCELLED. The host no
     * longer waits for it, and discards its result. Does nothing if no such call runs. */
    void(LD_SENDABLE *cancel)(void *self, uint64_t call);
    /* [any thread] An optional ability by id, or NULL. No ability is defined yet. */
    const void *(LD_SENDABLE *extension)(void *self, ld_bytes id);
    /* [one thread, may wait] Ends the pack, as `close` of ld_store ends a store. */
    void(LD_SENDABLE *close)(void *self);
} ld_migration_pack;

/* ---------------------------------------------------------------- the least sizes ------------------------------- */

/* The size of each struct in minor 1. A later minor adds lines for new structs, and changes none. These are
 * enumerators for languages that import constants, but no macros. */
enum {
    ld_error_sink_least_size = LD_SIZE_THROUGH(ld_error_sink, report),
    ld_sink_least_size = LD_SIZE_THROUGH(ld_sink, write),
    ld_source_least_size = LD_SIZE_THROUGH(ld_source, read),
    ld_host_least_size = LD_SIZE_THROUGH(ld_host, extension),
    ld_host_log_least_size = LD_SIZE_THROUGH(ld_host_log, log),
    ld_component_least_size = LD_SIZE_THROUGH(ld_component, open),
    ld_plugin_least_size = LD_SIZE_THROUGH(ld_plugin, component_count),
    ld_namespace_least_size = LD_SIZE_THROUGH(ld_namespace, directory),
    ld_address_least_size = LD_SIZE_THROUGH(ld_address, name),
    ld_attributes_least_size = LD_SIZE_THROUGH(ld_attributes, expires),
    ld_store_least_size = LD_SIZE_THROUGH(ld_store, close),
    ld_store_enumeration_least_size = LD_SIZE_THROUGH(ld_store_enumeration, places),
    ld_store_attributes_least_size = LD_SIZE_THROUGH(ld_store_attributes, attributes),
    ld_store_streaming_least_size = LD_SIZE_THROUGH(ld_store_streaming, write),
    ld_operation_least_size = LD_SIZE_THROUGH(ld_operation, attributes),
    ld_store_batch_least_size = LD_SIZE_THROUGH(ld_store_batch, apply),
    ld_watcher_least_size = LD_SIZE_THROUGH(ld_watcher, changed),
    ld_store_watch_least_size = LD_SIZE_THROUGH(ld_store_watch, unwatch),
    ld_store_transactions_least_size = LD_SIZE_THROUGH(ld_store_transactions, rollback),
    ld_store_check_least_size = LD_SIZE_THROUGH(ld_store_check, check),
    ld_store_repair_least_size = LD_SIZE_THROUGH(ld_store_repair, repair),
    ld_store_verification_least_size = LD_SIZE_THROUGH(ld_store_verification, verify),
    ld_store_conditional_least_size = LD_SIZE_THROUGH(ld_store_conditional, remove),
    ld_store_expiry_least_size = LD_SIZE_THROUGH(ld_store_expiry, expired),
    ld_store_lock_least_size = LD_SIZE_THROUGH(ld_store_lock, unlock),
    ld_store_wiping_least_size = LD_SIZE_THROUGH(ld_store_wiping, wipe),
    ld_bulk_value_least_size = LD_SIZE_THROUGH(ld_bulk_value, mark),
    ld_bulk_change_least_size = LD_SIZE_THROUGH(ld_bulk_change, mark),
    ld_store_bulk_least_size = LD_SIZE_THROUGH(ld_store_bulk, apply),
    ld_algorithm_least_size = LD_SIZE_THROUGH(ld_algorithm, largest),
    ld_derivation_least_size = LD_SIZE_THROUGH(ld_derivation, memory),
    ld_crypto_least_size = LD_SIZE_THROUGH(ld_crypto, agree),
    ld_crypto_signatures_least_size = LD_SIZE_THROUGH(ld_crypto_signatures, verify),
    ld_sync_record_least_size = LD_SIZE_THROUGH(ld_sync_record, content),
    ld_sync_subscriber_least_size = LD_SIZE_THROUGH(ld_sync_subscriber, notify),
    ld_sync_least_size = LD_SIZE_THROUGH(ld_sync, close),
    ld_migration_key_least_size = LD_SIZE_THROUGH(ld_migration_key, security),
    ld_migration_transaction_least_size = LD_SIZE_THROUGH(ld_migration_transaction, set_tagged),
    ld_migration_pack_least_size = LD_SIZE_THROUGH(ld_migration_pack, close),
};

#ifdef __cplusplus
}
#endif

#endif
