/*
 * The LocalData plugin ABI, major 1: frozen since minor 1. A host of any 1.x loads a plugin of any 1.y, from 1.1 on. Minor
 * 0 was provisional, and its structs were others: a plugin of minor 0 is refused. How a later minor may differ from this
 * one is said below, under "How this ABI grows".
 *
 * A plugin is a shared library that exports one C function:
 *
 *     const void *localdata_plugin_v1(void);      -> a const ld_plugin *
 *
 * The major version is part of the name: a library built for another major lacks the symbol and is refused before any
 * of its code runs. The function may be called more than once and from any thread; it returns the same pointer each
 * time, never fails, does no work that may block, and what it points to stays valid until the process ends.
 * A library is never unloaded.
 *
 * How to read this header
 *
 *   bytes and strings   are (pointer, count), not terminated. Strings are UTF-8. They are borrowed: valid until the
 *                       call that carries them returns, unless said otherwise. A count of 0 makes the pointer
 *                       meaningless (it may be NULL); more than 4 GiB at once is refused.
 *   structs             but ld_bytes cross the boundary by pointer and start with `size`, the number of bytes their
 *                       writer knows: sizeof in its language. They lie in memory as C aligns them.
 *   pointers            are not NULL unless said otherwise; nor is a handle, token, transaction, stream or lock that a
 *                       function writes. The host gives those back as they are and never looks behind them.
 *   threads             a component's functions may be called from any thread, many at once, unless said otherwise.
 *                       A call runs on the thread that makes it and is done when it returns. There are no completions.
 *   blocking            "may wait" marks functions that may wait for the disk, a lock, the network or a person; a host
 *                       calls those on a thread of its own. The others return without waiting.
 *   results             go to a sink: a function of the caller's that copies what it needs before it returns. A sink
 *                       never calls back into the component, and a component holds no lock that its other functions
 *                       need while it calls one. Sinks and sources, error sinks too, belong to the call that lends
 *                       them: they are used on its thread, until it returns. A host refuses and logs any other use.
 *   status              functions return an ld_status. Only LD_FAILED comes with a report, made exactly once, through
 *                       the ld_error_sink, before the function returns. An error sink may be NULL. A function
 *                       answers LD_ABSENT, LD_STOPPED and LD_EXPIRED only where it says so; a host takes what breaks these rules
 *                       for a failure of the component.
 *   JSON                readers ignore members that they do not know.
 *   secrets             values may be secrets: they must not appear in messages or logs, and buffers of the component's
 *                       own that held one are cleared before they are freed.
 *
 * How this ABI grows
 *
 *   what never changes  the entry and its name; ld_bytes; every member, function, number and id of this header: its place,
 *                       type, meaning, threads and limits. What a minor requires of a component no later one tightens, and
 *                       what it promises to one no later one takes back. Otherwise the major changes, and the entry's
 *                       name with it.
 *   what a minor adds   members at the end of a struct; abilities and services under new ids; kinds, algorithms and error
 *                       codes under new numbers; flags; meanings for `reserved` members; members of JSON objects. To
 *                       ignore an addition is always right. What must not be ignored is an ability with an id of its own,
 *                       and is used only with a component that offers it.
 *   sizes               of a struct are a multiple of the size of a pointer, at least what the struct has in minor 1 (the
 *                       ld_..._least_size of this header) and at most LD_LARGEST_STRUCT. The host refuses others. A reader
 *                       looks at no more than it knows: it copies min(size, its own sizeof) bytes into a zeroed struct of
 *                       its own, once, or asks LD_HAS before it reads a member that minor 1 did not have. A member behind
 *                       `size` counts as 0 or NULL, and a function that is NULL is not offered. What minor 1 has is always
 *                       there: a plugin that knows only that need not look at a size.
 *   tags                carry a revision (`struct ld_store_r1`). A struct that grows gets the next one: two layouts never
 *                       share a tag, because an importer such as Swift's knows one type per tag in a process.
 *   ids                 of abilities and services end in a revision, too. A table grows at its end and keeps its id; another
 *                       meaning is another id ("localdata.store.batch/2"), beside which the old one may be offered.
 *   unknown numbers     a reader keeps an error code, lists a component kind and passes over an algorithm that it does not
 *                       know. It ignores unknown flags of what a component declares, takes an unknown LD_SYNC_... notice for
 *                       LD_SYNC_CHANGED, and a log level for the nearest. Statuses, latencies, conditions, value states and
 *                       the flags of a request are complete: a later minor adds to them only for new functions, so an
 *                       unknown one is refused (by a component with LD_ERROR_UNSUPPORTED).
 *   reserved members    are 0; readers ignore them. Padding has no meaning.
 *   a newer plugin      finds out what the host can do by its services and sizes, not by a version; `open` fails with
 *                       LD_ERROR_UNSUPPORTED and a hint if the plugin cannot do without something that is missing.
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
#define LD_ABSENT 1  /* done; there is nothing stored under the key. Not a failure: nothing is reported. */
#define LD_STOPPED 2 /* the caller's sink or source asked to stop; what was done so far is without effect */
#define LD_EXPIRED 3 /* done; what is stored under the key has expired and counts as absent. Only from a store that offers
                        LD_STORE_EXPIRY, in place of LD_ABSENT from a function that reads one value; the host then has it
                        discarded. */
#define LD_FAILED (-1) /* not done; the error sink has been told why */

/* One number per StorageError code. Numbers are never reused. */
typedef int32_t ld_error_code; /* above 0; the host takes any other number for LD_ERROR_UNKNOWN */
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

/* Takes the report of a failure. `message` names what failed and on which object, `hint` what to do next (may be
 * empty). Both are borrowed for the call. Never waits. */
typedef struct LD_SENDABLE ld_error_sink_r1 {
    uint32_t size;
    void *context;
    void(LD_SENDABLE *report)(void *context, ld_error_code code, ld_bytes message, ld_bytes hint);
} ld_error_sink;

/* Takes results. `write` is called on the calling thread, as often as the function that got the sink says. It returns
 * 0 to go on; anything else asks the component to stop and return LD_STOPPED. Never waits. */
typedef struct LD_SENDABLE ld_sink_r1 {
    uint32_t size;
    void *context;
    int32_t(LD_SENDABLE *write)(void *context, ld_bytes bytes);
} ld_sink;

/* Gives a value in pieces. `read` fills at most `capacity` bytes and returns how many, 0 at the end, or a negative
 * number to give up (the component then returns LD_STOPPED and the old value stands). May wait. */
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
    /* A service by id, or NULL. Its table is valid until the process ends. Never waits. Ids: see below. */
    const void *(LD_SENDABLE *extension)(void *context, ld_bytes id);
} ld_host;

/* Service: the host's log. `level`: 0 debug, 1 info, 2 warning, 3 error. Names, never values. Never waits. */
#define LD_HOST_LOG "localdata.host.log/1"
typedef struct LD_SENDABLE ld_host_log_r1 {
    uint32_t size;
    void *context;
    /* The least level that is kept; a message below it need not be made. */
    int32_t(LD_SENDABLE *threshold)(void *context);
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
    /* The options that `open` takes: a JSON array of {"name", "type", "default", "help", "allowed", "required"}, where
     * type is "string", "integer", "number", "boolean", "path" or "list" (a JSON array); nothing (count 0) is an empty
     * array. A host refuses what is not listed before `open`. Defaults and paths may use ${data}, ${cache}, ${state} and
     * ${config}; the host puts the folders in. A "string" may have "secret": true: then a configuration has the address
     * of a value of the keychain, and `open` gets the value. Hosts that do not know the member pass the address. It may
     * have "pattern", a regular expression that the whole value has to match; `open` checks it too, as not every host
     * does. */
    ld_bytes options;
    void *context; /* handed to `open` */
    /* Opens the component with options (a JSON object, every option of the schema present) and writes its table to
     * `*table`: a const ld_store * for LD_KIND_STORAGE, a const ld_crypto * for LD_KIND_CRYPTO, a const ld_sync * for
     * LD_KIND_SYNC, a const ld_migration_pack * for LD_KIND_MIGRATION. Called once per configured store, provider,
     * transport or pack. May wait. */
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
    int64_t expires;       /* nanoseconds since 1970 UTC; from then on the value is absent. 0: never. Only for stores with
                              LD_STORE_EXPIRY; others refuse it with LD_ERROR_UNSUPPORTED */
} ld_attributes;

#define LD_LATENCY_MEMORY 0      /* never waits */
#define LD_LATENCY_DISK 1        /* get and exists read local files and do not wait for locks; the rest may wait */
#define LD_LATENCY_NETWORK 2     /* everything may wait */
#define LD_LATENCY_INTERACTIVE 3 /* everything may wait for a person */

#define LD_STORE_DURABLE 1u /* LD_OK from set and remove means: survives a power loss */
#define LD_STORE_SHARED 2u  /* other processes with the same options see the same values, safely */
/* Protects what it keeps by itself: a keychain, which the keychain domain may use without sealing. */
#define LD_STORE_KEYCHAIN 4u
/* Keeps each folder that a place names as its `directory` by itself: one batch, transaction or bulk `apply` is not of two
 * folders, nor of a folder and a place of the store's own choice. */
#define LD_STORE_FOLDERS_APART 8u

/* What a keychain enforces: a bit for each accessibility, and from bit 16 on for each access control, in the order of
 * their names: whenUnlocked, afterFirstUnlock, whenUnlockedThisDeviceOnly, afterFirstUnlockThisDeviceOnly, always,
 * alwaysThisDeviceOnly, whenPasscodeSetThisDeviceOnly; userPresence, biometryAny, biometryCurrentSet, devicePasscode,
 * biometryAnyOrDevicePasscode, biometryCurrentSetOrDevicePasscode. */
#define LD_ENFORCES_ACCESSIBILITY(index) (1u << (index))
#define LD_ENFORCES_ACCESS_CONTROL(index) (1u << (16 + (index)))

/*
 * An open store.
 *
 * `handle` stands for one resolved address. Each successful `resolve` is paired with one `release`; a handle may be used
 * by many threads at once until then. A handle names the address, not the value: it stays good when the value comes,
 * changes or goes. All functions but `extension` and `close` are required.
 *
 * Consistency: after set returned LD_OK, get on any thread gives that value or a later one; a reader sees one whole
 * value, never a mixture; a failed set leaves the old value, except with LD_ERROR_DURABILITY_UNKNOWN (the new value is
 * in place) and LD_ERROR_TIMED_OUT (unknown which).
 */
typedef struct LD_SENDABLE ld_store_r1 {
    uint32_t size;
    uint32_t latency;         /* LD_LATENCY_... */
    uint32_t flags;           /* LD_STORE_... */
    uint32_t enforces;        /* LD_ENFORCES_...; 0 for a store that is no keychain */
    uint64_t largest_value;   /* bytes; 0 means no limit of the store's own */
    void *self;               /* handed to every function */

    /* Turns an address into a handle. Does not ask whether a value exists. Never waits. */
    ld_status(LD_SENDABLE *resolve)(
        void *self, const ld_address *address, void **handle, const ld_error_sink *error);
    /* Gives a handle back. Never waits, never fails. */
    void(LD_SENDABLE *release)(void *self, void *handle);
    /* Writes the whole value to the sink in exactly one call, or returns LD_ABSENT without calling it. */
    ld_status(LD_SENDABLE *get)(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error);
    /* LD_OK if a value is stored, even an empty one; LD_ABSENT if not. */
    ld_status(LD_SENDABLE *exists)(void *self, void *handle, const ld_error_sink *error);
    /* Stores a value, replacing what is there. `attributes` may be NULL; a store that keeps none ignores them, one that
     * keeps them replaces the old ones. May wait. */
    ld_status(LD_SENDABLE *set)(
        void *self, void *handle, ld_bytes value, const ld_attributes *attributes, const ld_error_sink *error);
    /* Removes the value; LD_ABSENT if there was none. May wait. */
    ld_status(LD_SENDABLE *remove)(void *self, void *handle, const ld_error_sink *error);
    /* An optional ability by id, or NULL. The table stays valid as long as the store. Never waits. */
    const void *(LD_SENDABLE *extension)(void *self, ld_bytes id);
    /* Ends the store. Called at most once, with no call in flight and no handle held, by hosts that can know; others
     * leave the store open until the process ends. May wait. */
    void(LD_SENDABLE *close)(void *self);
} ld_store;

/* ---------------------------------------------------------------- abilities of a store -------------------------- */

/* Enumeration with prefix and paging. */
#define LD_STORE_ENUMERATION "localdata.store.enumeration/1"
typedef struct LD_SENDABLE ld_store_enumeration_r1 {
    uint32_t size;
    /* Writes names of `place` that start with `prefix` and come after `after` (empty: from the start), one per call of
     * the sink, ascending by bytes, at most `limit` (0: all). A name that is there all the while is given exactly once;
     * one that comes or goes meanwhile may be given or not. May wait. */
    ld_status(LD_SENDABLE *names)(
        void *self, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t limit, const ld_sink *sink,
        const ld_error_sink *error);
    /* Writes every place of the store's own choosing (no `directory`) that holds a value: domain, a zero byte, scope,
     * one place per call of the sink, in any order. May wait. */
    ld_status(LD_SENDABLE *places)(void *self, const ld_sink *sink, const ld_error_sink *error);
} ld_store_enumeration;

/* Attributes kept with values. A store that offers this keeps what `set` gets. */
#define LD_STORE_ATTRIBUTES "localdata.store.attributes/1"
typedef struct LD_SENDABLE ld_store_attributes_r1 {
    uint32_t size;
    /* Calls `take` once with the value's attributes (borrowed), or returns LD_ABSENT. May wait. */
    ld_status(LD_SENDABLE *attributes)(
        void *self, void *handle, void *context,
        void(LD_SENDABLE *take)(void *context, const ld_attributes *attributes), const ld_error_sink *error);
} ld_store_attributes;

/* Values in pieces, for those that should not be in memory whole. */
#define LD_STORE_STREAMING "localdata.store.streaming/1"
typedef struct LD_SENDABLE ld_store_streaming_r1 {
    uint32_t size;
    /* Like get, with as many calls of the sink as it takes, none for an empty value. All pieces are of one value. */
    ld_status(LD_SENDABLE *read)(void *self, void *handle, const ld_sink *sink, const ld_error_sink *error);
    /* Like set, with the value taken from the source until it ends. Nothing is visible before that. */
    ld_status(LD_SENDABLE *write)(
        void *self, void *handle, const ld_source *source, const ld_attributes *attributes,
        const ld_error_sink *error);
} ld_store_streaming;

/* Many changes at once: all of them or none, also across a crash. */
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
    /* Applies the operations in order; a later one for the same handle wins. May wait. */
    ld_status(LD_SENDABLE *apply)(
        void *self, const ld_operation *const *operations, size_t count, const ld_error_sink *error);
} ld_store_batch;

/* Being told of changes, also those of other processes if the store is shared. */
#define LD_STORE_WATCH "localdata.store.watch/1"
typedef struct LD_SENDABLE ld_watcher_r1 {
    uint32_t size;
    void *context;
    /* The value under `name` was set or removed; an empty name means: anything may have changed. Called on any thread,
     * also during a set; never waits and never calls the store. Changes may be told together, none is left out. */
    void(LD_SENDABLE *changed)(void *context, ld_bytes name);
} ld_watcher;
typedef struct LD_SENDABLE ld_store_watch_r1 {
    uint32_t size;
    /* Tells `watcher` of changes in `place` to names that start with `prefix`, from now on until `unwatch`. The watcher
     * struct is copied. May wait. */
    ld_status(LD_SENDABLE *watch)(
        void *self, const ld_namespace *place, ld_bytes prefix, const ld_watcher *watcher, void **token,
        const ld_error_sink *error);
    /* Ends a watch; when it returns, `changed` is not running and will not run again. May wait. */
    void(LD_SENDABLE *unwatch)(void *self, void *token);
} ld_store_watch;

/* Reads and changes that are one step: isolated until commit, all or nothing. */
#define LD_STORE_TRANSACTIONS "localdata.store.transactions/1"
typedef struct LD_SENDABLE ld_store_transactions_r1 {
    uint32_t size;
    /* Begins a transaction. It is used by one thread at a time and ended by exactly one of commit and rollback. */
    ld_status(LD_SENDABLE *begin)(void *self, void **transaction, const ld_error_sink *error);
    /* As of the store, within the transaction: it sees its own changes, nobody else does. */
    ld_status(LD_SENDABLE *get)(
        void *self, void *transaction, void *handle, const ld_sink *sink, const ld_error_sink *error);
    ld_status(LD_SENDABLE *set)(
        void *self, void *transaction, void *handle, ld_bytes value, const ld_attributes *attributes,
        const ld_error_sink *error);
    ld_status(LD_SENDABLE *remove)(void *self, void *transaction, void *handle, const ld_error_sink *error);
    /* Makes the changes take effect; LD_ERROR_BUSY if a value that the transaction read or changed was changed by
     * another meanwhile, and then nothing took effect. Ends the transaction in either case. */
    ld_status(LD_SENDABLE *commit)(void *self, void *transaction, const ld_error_sink *error);
    void(LD_SENDABLE *rollback)(void *self, void *transaction);
} ld_store_transactions;

/* Looking for damage. */
#define LD_STORE_CHECK "localdata.store.check/1"
typedef struct LD_SENDABLE ld_store_check_r1 {
    uint32_t size;
    /* Looks at everything that the store keeps, changes nothing, and writes a line of text for each thing that is wrong,
     * one per call of the sink: names, never values. LD_OK without a line: all is well. What cannot be looked at is a
     * failure. Others go on using the store meanwhile. May wait, and may take long. */
    ld_status(LD_SENDABLE *check)(void *self, const ld_sink *sink, const ld_error_sink *error);
} ld_store_check;

/* Making a store usable again whose damage keeps it from being changed. */
#define LD_STORE_REPAIR "localdata.store.repair/1"
typedef struct LD_SENDABLE ld_store_repair_r1 {
    uint32_t size;
    /* Gives up what cannot be saved and no more, keeps what it gives up beside the store where it can, and writes a line of
     * text for each thing that it did, one per call of the sink. LD_OK without a line: there was nothing to repair. Called
     * only when a person asks for it. May wait, and may take long. */
    ld_status(LD_SENDABLE *repair)(void *self, const ld_sink *sink, const ld_error_sink *error);
} ld_store_repair;

/* Comparing a value with what was recorded when it was written. A store that offers this never gives a corrupt value for a
 * right one: get, read and the bulk read fail with LD_ERROR_CORRUPT or leave it out, read at the end at the latest. */
#define LD_STORE_VERIFICATION "localdata.store.verification/1"
#define LD_VALUE_UNRECORDED 0u /* nothing was recorded: another program wrote it, or nothing can be recorded there */
#define LD_VALUE_INTACT 1u     /* as it was written */
#define LD_VALUE_EDITED 2u     /* another program edited it on purpose, and it is read as it is now */
typedef struct LD_SENDABLE ld_store_verification_r1 {
    uint32_t size;
    /* Reads the whole value, changes nothing, and writes what it is to `*state`: LD_VALUE_...; LD_ABSENT if there is none.
     * A value whose bytes are not those that were stored is a failure, LD_ERROR_CORRUPT. May wait. */
    ld_status(LD_SENDABLE *verify)(void *self, void *handle, uint32_t *state, const ld_error_sink *error);
} ld_store_verification;

/* A value together with its version tag, in one call. A store that offers this keeps attributes. */
#define LD_STORE_TAGGED "localdata.store.tagged/1"
typedef struct LD_SENDABLE ld_store_tagged_r1 {
    uint32_t size;
    /* Like the store's get, with the `version_tag` that the same write stored: calls `take` once with both (borrowed; a
     * tag of no bytes means that none is known), or returns LD_ABSENT. May wait where get may. */
    ld_status(LD_SENDABLE *get)(
        void *self, void *handle, void *context,
        void(LD_SENDABLE *take)(void *context, ld_bytes version_tag, ld_bytes value), const ld_error_sink *error);
} ld_store_tagged;

/* Changes that depend on what is stored. They are one step for all who use the store, other processes too if it is shared. */
#define LD_STORE_CONDITIONAL "localdata.store.conditional/1"
#define LD_IF_ANYTHING 0u /* whatever is stored */
#define LD_IF_ABSENT 1u   /* only if no value is stored */
#define LD_IF_REVISION 2u /* only if the stored value has the given revision */
typedef struct LD_SENDABLE ld_store_conditional_r1 {
    uint32_t size;
    /* Like the store's get, with the value's revision and its attributes: calls `take` once with all three, which are of one
     * write (borrowed; `attributes` is NULL for a store that keeps none), or returns LD_ABSENT. The revision is never 0,
     * and another one after each write of the value, also after it was removed. It is the `mark` of LD_STORE_BULK. May wait
     * where get may. */
    ld_status(LD_SENDABLE *get)(
        void *self, void *handle, void *context,
        void(LD_SENDABLE *take)(void *context, uint64_t revision, const ld_attributes *attributes, ld_bytes value),
        const ld_error_sink *error);
    /* Like set, if `condition` (LD_IF_...) is fulfilled, and writes the value's new revision to `*revision`, which holds
     * the expected one for LD_IF_REVISION. LD_ABSENT: it is not fulfilled, and nothing has changed. May wait. */
    ld_status(LD_SENDABLE *set)(
        void *self, void *handle, ld_bytes value, const ld_attributes *attributes, uint32_t condition,
        uint64_t *revision, const ld_error_sink *error);
    /* Removes the value if it has this revision; LD_ABSENT if it has another one or there is none. May wait. */
    ld_status(LD_SENDABLE *remove)(void *self, void *handle, uint64_t revision, const ld_error_sink *error);
} ld_store_conditional;

/* Values that are absent from a moment on, which their attributes name. A store that offers this keeps attributes. From
 * that moment functions that read one value return LD_EXPIRED, listings and bulk reads leave it out, a transaction's get
 * returns LD_ABSENT, and a change may take its place as if it were not there. The store's own clock decides. */
#define LD_STORE_EXPIRY "localdata.store.expiry/1"
typedef struct LD_SENDABLE ld_store_expiry_r1 {
    uint32_t size;
    /* Removes the value if it has expired, so that no clock that is set back brings it to light again. May wait. */
    ld_status(LD_SENDABLE *discard)(void *self, void *handle, const ld_error_sink *error);
    /* Removes expired values, at most `limit`: those of a place, or all of the store's own places if `place` is NULL; and
     * writes their number to `*removed`. Costs little if there are none. May wait. */
    ld_status(LD_SENDABLE *sweep)(
        void *self, const ld_namespace *place, uint64_t limit, uint64_t *removed, const ld_error_sink *error);
    /* Writes the names of a place's values that have expired and are still kept, one per call of the sink, each once, in any
     * order. May wait. */
    ld_status(LD_SENDABLE *expired)(
        void *self, const ld_namespace *place, const ld_sink *sink, const ld_error_sink *error);
} ld_store_expiry;

/* Locks among all who share the store, on whatever machine. For stores that are shared wider than a host's own folder of
 * state; the host locks files there for the others. */
#define LD_STORE_LOCK "localdata.store.lock/1"
typedef struct LD_SENDABLE ld_store_lock_r1 {
    uint32_t size;
    /* Takes the lock `name` (as a key's name) of a place, which one holder has at a time, and waits for it at most `wait`
     * nanoseconds. LD_ABSENT: another held it all the while. The lock ends with `unlock`, with the process, and if the
     * store loses its holder. Another thread of the process waits like another process. May wait. */
    ld_status(LD_SENDABLE *lock)(
        void *self, const ld_namespace *place, ld_bytes name, uint64_t wait, void **lock, const ld_error_sink *error);
    /* LD_OK while the lock is held, LD_ABSENT once the store has lost its holder. May wait. */
    ld_status(LD_SENDABLE *held)(void *self, void *lock, const ld_error_sink *error);
    /* Gives the lock back. Never fails. May wait. */
    void(LD_SENDABLE *unlock)(void *self, void *lock);
} ld_store_lock;

/* Clearing files of what was removed. */
#define LD_STORE_WIPING "localdata.store.wiping/1"
typedef struct LD_SENDABLE ld_store_wiping_r1 {
    uint32_t size;
    /* Sees to it that the files in which the store keeps `place` hold nothing any more of values that were removed or
     * replaced before: not in their free space, and not in logs. What a disk keeps of space that files gave back is beyond
     * a store. LD_ERROR_BUSY if another process stands in the way. May wait, and may take long. */
    ld_status(LD_SENDABLE *wipe)(void *self, const ld_namespace *place, const ld_error_sink *error);
} ld_store_wiping;

/* Many values in one call, for whoever goes through a whole place: a migration, a copy. */
#define LD_STORE_BULK "localdata.store.bulk/1"

/* A value as `read` gives it. */
typedef struct ld_bulk_value_r1 {
    uint32_t size;
    uint32_t omitted;                /* not 0: it is larger than what was asked for, or corrupt, and `value` is empty */
    ld_bytes name;
    ld_bytes value;
    const ld_attributes *attributes; /* with value_size and modified; NULL if the store keeps none */
    uint64_t mark;                   /* another one after each write of the value, and never 0 */
} ld_bulk_value;

/* A change as `apply` takes it. */
typedef struct ld_bulk_change_r1 {
    uint32_t size;
    uint32_t flags; /* LD_BULK_... */
    const ld_namespace *place;
    ld_bytes name;
    ld_bytes value;
    const ld_attributes *attributes; /* may be NULL */
    uint64_t mark;                   /* with LD_BULK_EXPECT: what the value has to have; 0: there has to be none */
} ld_bulk_change;
#define LD_BULK_REMOVE 1u /* removes (an absent value is fine); without it: sets */
#define LD_BULK_EXPECT 2u /* only if the value has `mark` when it is the change's turn */

typedef struct LD_SENDABLE ld_store_bulk_r1 {
    uint32_t size;
    /* Calls `take` with values of `place` whose names start with `prefix` and come after `after` (empty: from the start),
     * ascending by the names' bytes and all of one moment, until it returns anything but 0 (then LD_STOPPED). Values of
     * more than `largest` bytes come without their bytes. `take` is as a sink: it copies, and calls nothing. May wait. */
    ld_status(LD_SENDABLE *read)(
        void *self, const ld_namespace *place, ld_bytes prefix, ld_bytes after, uint64_t largest, void *context,
        int32_t(LD_SENDABLE *take)(void *context, const ld_bulk_value *value), const ld_error_sink *error);
    /* Applies the changes in order, all of them or none, also across a crash; a later one for the same name wins. If what
     * some of them expect is not so, it calls `conflict` with the index of each of those and fails with LD_ERROR_BUSY;
     * nothing took effect then. May wait. */
    ld_status(LD_SENDABLE *apply)(
        void *self, const ld_bulk_change *const *changes, size_t count, void *context,
        void(LD_SENDABLE *conflict)(void *context, size_t index), const ld_error_sink *error);
} ld_store_bulk;

/* ---------------------------------------------------------------- crypto ---------------------------------------- */

/* One number per algorithm, which sealed values carry: numbers are never reused. An algorithm is exactly what its
 * standard says, so that what one provider sealed another opens. */
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

#define LD_ALGORITHM_INCREMENTAL 1u /* the ability LD_CRYPTO_INCREMENTAL takes it */

/* An algorithm that a provider offers on this machine, with its sizes in bytes. */
typedef struct LD_SENDABLE ld_algorithm_r1 {
    uint32_t size;
    ld_algorithm_id id;
    uint32_t key_size;   /* of a cipher's key, or of a private key; 0 for derivations */
    uint32_t nonce_size; /* of a cipher's nonce; 0 for the others */
    uint32_t tag_size;   /* of a cipher's tag; 0 for the others */
    uint32_t flags;      /* LD_ALGORITHM_... */
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
 * An open crypto provider. It computes; nonces, keys and formats are the host's business.
 *
 * Every function may be called by many threads at once and never waits for anything but the processor; `derive` may
 * take seconds by its parameters. Outputs are buffers of the caller's and never overlap inputs. A key, nonce, tag or
 * parameter of another size than declared is refused (LD_ERROR_UNSUPPORTED), never padded or cut. Key material and
 * plaintext in memory of the provider's own is cleared before the call returns or, what is kept for a stream, before it
 * ends. Required are `seal`, `open`, `derive` and `random`; a provider without LD_X25519 leaves the last two NULL.
 */
typedef struct LD_SENDABLE ld_crypto_r1 {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Pointers, so that each has a size of its own; each id once, at most 64. Valid as long as the provider. */
    const ld_algorithm *const *algorithms;
    size_t algorithm_count;
    void *self; /* handed to every function */

    /* Encrypts and authenticates: writes plaintext.count bytes to `ciphertext` and the tag to `tag`. A nonce must not
     * come twice with one key; that is the caller's promise. */
    ld_status(LD_SENDABLE *seal)(
        void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes plaintext,
        void *ciphertext, void *tag, const ld_error_sink *error);
    /* Checks the tag and decrypts ciphertext.count bytes to `plaintext`. With a wrong tag it fails with
     * LD_ERROR_CANNOT_OPEN, in a time and with a message that depend on no key or plaintext, and `plaintext` holds only
     * zeros. */
    ld_status(LD_SENDABLE *open)(
        void *self, ld_algorithm_id algorithm, ld_bytes key, ld_bytes nonce, ld_bytes data, ld_bytes ciphertext,
        ld_bytes tag, void *plaintext, const ld_error_sink *error);
    /* Derives `count` bytes. */
    ld_status(LD_SENDABLE *derive)(
        void *self, ld_algorithm_id algorithm, const ld_derivation *parameters, void *output, size_t count,
        const ld_error_sink *error);
    /* Fills `output` from a cryptographically secure generator that is safe after fork(2). */
    ld_status(LD_SENDABLE *random)(void *self, void *output, size_t count, const ld_error_sink *error);
    /* An optional ability by id, or NULL. The table stays valid as long as the provider. */
    const void *(LD_SENDABLE *extension)(void *self, ld_bytes id);
    /* Ends the provider: as ld_store's. */
    void(LD_SENDABLE *close)(void *self);
    /* The public key of a private key. */
    ld_status(LD_SENDABLE *public_key)(
        void *self, ld_algorithm_id algorithm, ld_bytes private_key, void *public_key, const ld_error_sink *error);
    /* The shared secret. One that is all zeros (a public key of small order) is refused with LD_ERROR_SECURITY. */
    ld_status(LD_SENDABLE *agree)(
        void *self, ld_algorithm_id algorithm, ld_bytes private_key, ld_bytes public_key, void *shared,
        const ld_error_sink *error);
} ld_crypto;

/* Ciphers in pieces. A stream is used by one thread at a time. No host has needed them so far: a value is sealed in
 * chunks, each by one call of `seal`. So a provider need not offer them. */
#define LD_CRYPTO_INCREMENTAL "localdata.crypto.incremental/1"
typedef struct LD_SENDABLE ld_crypto_incremental_r1 {
    uint32_t size;
    /* Starts to seal (`seals` not 0) or to open under a key and a nonce, with all of the data that is only
     * authenticated. Every stream that was begun is ended by exactly one of `seal`, `open` and `cancel`. */
    ld_status(LD_SENDABLE *begin)(
        void *self, ld_algorithm_id algorithm, int32_t seals, ld_bytes key, ld_bytes nonce, ld_bytes data,
        void **stream, const ld_error_sink *error);
    /* Writes input.count bytes to `output`. What an opening stream writes is not authentic before `open` returned
     * LD_OK, and must not be acted upon. */
    ld_status(LD_SENDABLE *update)(
        void *self, void *stream, ld_bytes input, void *output, const ld_error_sink *error);
    /* Ends a sealing stream: writes the tag. */
    ld_status(LD_SENDABLE *seal)(void *self, void *stream, void *tag, const ld_error_sink *error);
    /* Ends an opening stream: LD_ERROR_CANNOT_OPEN if the tag is wrong. */
    ld_status(LD_SENDABLE *open)(void *self, void *stream, ld_bytes tag, const ld_error_sink *error);
    /* Ends a stream without a result. Never fails. */
    void(LD_SENDABLE *cancel)(void *self, void *stream);
} ld_crypto_incremental;

/* Signatures: by the algorithms that the provider lists and that are signatures, so far LD_ED25519. A private key is the
 * 32 bytes that RFC 8032 calls so, which other texts call the seed. */
#define LD_CRYPTO_SIGNATURES "localdata.crypto.signatures/1"
typedef struct LD_SENDABLE ld_crypto_signatures_r1 {
    uint32_t size;
    /* The 32-byte public key of a private key. */
    ld_status(LD_SENDABLE *public_key)(
        void *self, ld_algorithm_id algorithm, ld_bytes private_key, void *public_key, const ld_error_sink *error);
    /* Writes the 64-byte signature of a message, which may be empty. It is a function of key and message alone: no
     * random number goes into it. */
    ld_status(LD_SENDABLE *sign)(
        void *self, ld_algorithm_id algorithm, ld_bytes private_key, ld_bytes message, void *signature,
        const ld_error_sink *error);
    /* LD_OK if the signature is right, otherwise LD_ERROR_CANNOT_OPEN with a message that depends on none of the
     * inputs. All providers agree on every input, so that what one device accepts all do: with S, R and A as in RFC
     * 8032 (5.1.7), a signature is right if S is less than the group's order, A and R are the only encodings of their
     * points (y less than p) and neither point has a small order, and [S]B = R + [k]A holds without the cofactor. */
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
#define LD_SYNC_REACHABLE 1   /* the other side can be reached, again or for the first time; there may be something new */
#define LD_SYNC_UNREACHABLE 2 /* it cannot be reached; the transport goes on trying by itself */

typedef struct LD_SENDABLE ld_sync_subscriber_r1 {
    uint32_t size;
    void *context;
    /* `notice` is one of LD_SYNC_... Called on any thread; never waits and never calls the transport. */
    void(LD_SENDABLE *notify)(void *context, int32_t notice);
} ld_sync_subscriber;

/*
 * An open sync transport.
 *
 * Only the device of that name publishes as a writer, and one of its processes at a time, so no two publish the same
 * record. A transport upholds:
 *
 *   never lost     after `publish` returned LD_OK, every device gets the record, or a later one of the same writer and
 *                  name, from a fetch since any earlier position; also after a power loss on this side. If the other side
 *                  carries records later, as a folder that another program copies, this holds once it has.
 *   order          the records of one writer arrive in the order of their publication; those that a later one of the same
 *                  name replaced may be left out. Nothing is promised about records of different writers.
 *   last counts    what a fetch gives of a name ends with its newest record; of a removed name with the last one before
 *                  the removal, or nothing.
 *   at least once  a record may arrive again, but never changed, and never in part.
 *   own records    are fetched as those of others are.
 *
 * Every function may be called by many threads at once. `open` succeeds if the other side cannot be reached now; the
 * functions then fail with LD_ERROR_STORE_UNAVAILABLE until it can. All but `extension` and `close` are required.
 */
typedef struct LD_SENDABLE ld_sync_r1 {
    uint32_t size;
    uint32_t reserved;       /* 0 */
    uint64_t largest_record; /* the most bytes of one record's content; at least 262,144 */
    void *self;              /* handed to every function */

    /* Publishes 1 to 1,024 records of one writer, in order, durably: all of them, or the first ones if it fails. To
     * publish one again does no harm. LD_ERROR_DURABILITY_UNKNOWN: it cannot be told what was published. May wait. */
    ld_status(LD_SENDABLE *publish)(
        void *self, const ld_sync_record *const *records, size_t count, const ld_error_sink *error);
    /* Removes records of a writer, 1 to 1,024 names, which no fetch needs to give any more; an absent one is fine. May
     * wait. */
    ld_status(LD_SENDABLE *remove)(
        void *self, ld_bytes writer, const ld_bytes *names, size_t count, const ld_error_sink *error);
    /* Calls `take` with the records that were published after the position `since` (empty: from the beginning) until
     * there are no more or it returns anything but 0. Either way it then writes the position behind the last record that
     * `take` got, 1 to 4,096 bytes, to `position` in exactly one call, and returns LD_OK. LD_ERROR_POSITION_LOST: it
     * cannot go on from there; the host fetches from the beginning. `take` is as a sink: it copies, and calls nothing.
     * May wait. */
    ld_status(LD_SENDABLE *fetch)(
        void *self, ld_bytes since, void *context,
        int32_t(LD_SENDABLE *take)(void *context, const ld_sync_record *record), const ld_sink *position,
        const ld_error_sink *error);
    /* Notifies `subscriber` whenever there may be something new to fetch, and when reachability changes, from now on
     * until `unsubscribe`. A notice may be about nothing; none is left out. The struct is copied. May wait. */
    ld_status(LD_SENDABLE *subscribe)(
        void *self, const ld_sync_subscriber *subscriber, void **token, const ld_error_sink *error);
    /* Ends a subscription; when it returns, `notify` is not running and will not run again. May wait. */
    void(LD_SENDABLE *unsubscribe)(void *self, void *token);
    /* Asks all calls that wait for the other side to return soon with LD_ERROR_CANCELLED. Never waits. */
    void(LD_SENDABLE *cancel)(void *self);
    /* An optional ability by id, or NULL. There is none yet. */
    const void *(LD_SENDABLE *extension)(void *self, ld_bytes id);
    /* Ends the transport: as ld_store's. */
    void(LD_SENDABLE *close)(void *self);
} ld_sync;

/* ---------------------------------------------------------------- migrations ------------------------------------ */

/*
 * A key, as a migration names it. The host keeps serializer and security with what it writes: two keys of one address
 * that differ in them are two ways to read one value, and only the right one gives it.
 */
typedef struct ld_migration_key_r1 {
    uint32_t size;
    ld_bytes address;    /* "keychain:com.example/token": domain[:scope]/name, where a scope has %2F for / and %25 for % */
    ld_bytes serializer; /* "json", "plist", "text", "data" or "custom"; empty: "data" */
    /* How the value is protected, as JSON: "none" (with its quotes), {"cipher":"AES-256-GCM"},
     * {"cipher":"ChaCha20-Poly1305"} or {"accessibility":"whenUnlocked"}; empty: the domain's own way. */
    ld_bytes security;
} ld_migration_key;

/*
 * What a migration reads and writes: the stores as they are, with the migration's own changes on top, which nobody else
 * sees. Nothing takes effect before `migrate` has returned a result with success; what `should_migrate` writes never does.
 *
 * It belongs to one call, and to the thread that the call was made on: from another thread, or once the call has returned,
 * every function is refused with LD_ERROR_UNSUPPORTED. When the call is cancelled, all but `is_cancelled` are refused with
 * LD_ERROR_CANCELLED. All may wait.
 */
typedef struct LD_SENDABLE ld_migration_transaction_r1 {
    uint32_t size;
    uint32_t reserved; /* 0 */
    void *context;     /* handed to every function */
    uint64_t call;     /* what `cancel` names the call by; no two calls of a process have the same */
    /* Writes the whole value, opened if it is sealed, to the sink in exactly one call, or returns LD_ABSENT. */
    ld_status(LD_SENDABLE *get)(
        void *context, const ld_migration_key *key, const ld_sink *sink, const ld_error_sink *error);
    /* LD_OK if there is a value, even an empty one; LD_ABSENT if not. */
    ld_status(LD_SENDABLE *exists)(void *context, const ld_migration_key *key, const ld_error_sink *error);
    /* Stages a value. One of a "json" or "plist" key that is no such document is refused with
     * LD_ERROR_DESERIALIZATION. */
    ld_status(LD_SENDABLE *set)(
        void *context, const ld_migration_key *key, ld_bytes value, const ld_error_sink *error);
    /* Stages a removal; LD_OK also if there is no value. */
    ld_status(LD_SENDABLE *remove)(void *context, const ld_migration_key *key, const ld_error_sink *error);
    /* 1 once the host has given the call up, 0 before. Never waits. */
    int32_t(LD_SENDABLE *is_cancelled)(void *context);
    /* Writes the names of `place` that start with `prefix`, one per call of the sink, ascending by bytes, with the
     * transaction's own changes. A place is a domain and its scope as in an address: "userDefaults:com.example". */
    ld_status(LD_SENDABLE *names)(
        void *context, ld_bytes place, ld_bytes prefix, const ld_sink *sink, const ld_error_sink *error);
    /* Calls `take` once with what is recorded with the value (borrowed), or returns LD_ABSENT. */
    ld_status(LD_SENDABLE *attributes)(
        void *context, const ld_migration_key *key, void *taker,
        void(LD_SENDABLE *take)(void *taker, const ld_attributes *attributes), const ld_error_sink *error);
    /* As `set`, with the value's version tag; of no bytes: none. */
    ld_status(LD_SENDABLE *set_tagged)(
        void *context, const ld_migration_key *key, ld_bytes value, ld_bytes version_tag, const ld_error_sink *error);
} ld_migration_transaction;

/*
 * An open migration pack. A migration is called by its index in the list; what it does is known by its id and revision,
 * so an id never changes its meaning, and a change of what is done is a new revision.
 *
 * The list is a JSON array of at most 1024 objects and 1 MiB:
 *
 *     id              required; what the ledger knows the migration by: 1 to 4096 bytes, no control characters
 *     revision        a whole number from 1 on; 1 if not given
 *     summary         one line for people; empty if not given
 *     fingerprint     what the migration does, as a text or a hash of one: 1 to 256 bytes, no control characters. The
 *                     ledger keeps it, and refuses to run the migration again with another one of the same revision. For
 *                     packs whose migrations are declared, where others come and go; if not given, the plugin's file and
 *                     the pack's options are compared
 *     effect          "brings" data to its destination, or "removes" what is there; "brings" if not given
 *     destination     required unless it is a bulk migration: a key, {"address": ..., "serializer": ..., "security": ...}
 *                     as in ld_migration_key (security not in quotes of its own), and optionally "type", "owner",
 *                     "description", "availability" ("all", "phoneOnly", "watchOnly"), "sync" ("never", "manual",
 *                     "automaticSmall"): whether the value takes part in sync, where no catalog lists the key
 *     sources         keys that data comes from, as far as they are known beforehand; none if not given
 *     dependencies    ids of migrations that run before this one, of this pack or others; none if not given
 *     conflictPolicy  if the destination has a value: "keepDestination", "dropSource", "takeSource" or "fail"; the
 *                     first if not given
 *     bulk            of a bulk migration, in place of destination and sources: {"source": range, "destination": range,
 *                     "converts": truth}, where a range is {"domain": "userDefaults:suite", "prefix": ...,
 *                     "serializer": ..., "security": ...} and stands for all values of a place whose names begin with
 *                     the prefix. Names keep what follows it; with "converts" (false if not given) `convert` makes
 *                     the new bytes.
 *     container       whether it is a step of a versioned container, whose version key is the destination; false if
 *                     not given
 *
 * `should_migrate` and `migrate` are called on threads of the host's that may wait, many at once for different
 * migrations; the others never wait for anything but the processor. `should_migrate` and `migrate` are required unless all
 * migrations are bulk migrations, `convert` if one of them converts; what else is NULL is not offered.
 */
typedef struct LD_SENDABLE ld_migration_pack_r1 {
    uint32_t size;
    uint32_t reserved;   /* 0 */
    ld_bytes migrations; /* the list; the same bytes as long as the pack is open */
    void *self;          /* handed to every function */

    /* Whether there is something to do: LD_OK if so, LD_ABSENT if not. Writes nothing. `context` is a JSON object:
     *
     *     appVersion   the version of the running app; left out if nobody said it
     *     dataVersion  the version of the app that wrote the data; left out if it is not known
     *     device       {"platform", "role", "systemVersion", "model"}
     *     system       {"availableDiskSpace", "availableMemory", "isLowPowerModeEnabled"}: bytes, bytes and a truth
     *     history      when which migration was committed: {id: seconds since 1970 UTC}
     *     preferences  {name: any value}
     */
    ld_status(LD_SENDABLE *should_migrate)(
        void *self, size_t migration, const ld_migration_transaction *transaction, ld_bytes context,
        const ld_error_sink *error);
    /* Does it, and writes a JSON object to the sink in exactly one call: {"success": truth, "migratedCount": how many
     * values came to their destination, "errors": [{"code": a number of an ld_error_code, "message": ..., "hint": ...}],
     * "metadata": {...}}; without success the first error is what the host throws. An error may have
     * "underlying": {"code", "message", "hint"}. All but success may be left out. LD_FAILED with a report is the same as
     * no success with one error. It may be run again, also after it was stopped at any point. */
    ld_status(LD_SENDABLE *migrate)(
        void *self, size_t migration, const ld_migration_transaction *transaction, ld_bytes context,
        const ld_sink *result, const ld_error_sink *error);
    /* Fails if the migration can never be right: asked when it is registered, and before it runs. NULL: the host checks
     * that no source is better protected than the destination. */
    ld_status(LD_SENDABLE *validate)(void *self, size_t migration, const ld_error_sink *error);
    /* Writes the new bytes of one value of a bulk migration to the sink in exactly one call. `name` is what the value is
     * called at its source, prefix and all. */
    ld_status(LD_SENDABLE *convert)(
        void *self, size_t migration, ld_bytes name, ld_bytes value, const ld_sink *sink, const ld_error_sink *error);
    /* Asks a call of `should_migrate` or `migrate` to return soon, with LD_ERROR_CANCELLED: the host does not wait for
     * it any more, and throws away what it returns. Called from any thread; nothing if no such call runs. */
    void(LD_SENDABLE *cancel)(void *self, uint64_t call);
    /* An optional ability by id, or NULL. There is none yet. */
    const void *(LD_SENDABLE *extension)(void *self, ld_bytes id);
    /* Ends the pack: as ld_store's. */
    void(LD_SENDABLE *close)(void *self);
} ld_migration_pack;

/* ---------------------------------------------------------------- the least sizes ------------------------------- */

/* What each struct has in minor 1. A later minor adds lines for new structs and changes none. Enumerators, for languages
 * that take over constants and no macros. */
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
    ld_store_tagged_least_size = LD_SIZE_THROUGH(ld_store_tagged, get),
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
    ld_crypto_incremental_least_size = LD_SIZE_THROUGH(ld_crypto_incremental, cancel),
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
