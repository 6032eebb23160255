/*
 * A migration pack of ABI 1.1 that calls every function of a transaction: one migration moves own/old to own/new, one joins
 * the values of own:notes whose names begin with "n." in own/notes, one removes own/gone, and a bulk migration makes the
 * values of own:low upper case in own:high.
 */
#include "kept.h"

static const char list[] =
    "[{\"id\":\"move\",\"revision\":1,\"summary\":\"moves old to new\",\"destination\":{\"address\":\"own/new\"},"
    "\"sources\":[{\"address\":\"own/old\"}]},"
    "{\"id\":\"join\",\"summary\":\"joins notes\",\"destination\":{\"address\":\"own/notes\"},"
    "\"sources\":[{\"address\":\"own:notes/n.1\"}],\"dependencies\":[\"move\"]},"
    "{\"id\":\"remove\",\"summary\":\"removes what is gone\",\"effect\":\"removes\","
    "\"destination\":{\"address\":\"own/gone\"}},"
    "{\"id\":\"shout\",\"summary\":\"makes values upper case\",\"bulk\":{\"source\":{\"domain\":\"own:low\"},"
    "\"destination\":{\"domain\":\"own:high\"},\"converts\":true}}]";

enum { MOVE, JOIN, REMOVE, SHOUT, COUNT };

#define KEY(text) {.size = sizeof(ld_migration_key), .address = TEXT(text)}
static const ld_migration_key old = KEY("own/old"), new = KEY("own/new"), notes = KEY("own/notes"),
                              first = KEY("own:notes/n.1"), gone = KEY("own/gone");

/* A text that grows. */
typedef struct text {
    size_t count, room;
    char *bytes;
    int is_full;
} text;

static void add(text *text, ld_bytes bytes) {
    if (text->count + bytes.count > text->room) {
        size_t room = (text->count + bytes.count) * 2;
        char *grown = malloc(room);
        if (grown == NULL) {
            text->is_full = 1;
            return;
        }
        if (text->count > 0) memcpy(grown, text->bytes, text->count), clear(text->bytes, text->count);
        free(text->bytes);
        text->bytes = grown;
        text->room = room;
    }
    if (bytes.count > 0) memcpy(text->bytes + text->count, bytes.data, bytes.count);
    text->count += bytes.count;
}

static void drop(text *text) {
    if (text->count > 0) clear(text->bytes, text->count);
    free(text->bytes);
}

static int32_t add_value(void *context, ld_bytes bytes) {
    add(context, bytes);
    return ((text *)context)->is_full;
}

/* Addresses of notes, each after its length. */
static int32_t add_address(void *context, ld_bytes name) {
    size_t count = sizeof "own:notes/" - 1 + name.count;
    add(context, (ld_bytes){&count, sizeof count});
    add(context, BYTES("own:notes/"));
    add(context, name);
    return ((text *)context)->is_full;
}

static void add_tag(void *context, const ld_attributes *attributes) {
    if (attributes->version_tag.count == 0) return;
    add(context, attributes->version_tag);
    add(context, BYTES("="));
}

static ld_status unknown(const ld_error_sink *error) {
    return fail(error, LD_ERROR_UNSUPPORTED, BYTES("there is no such migration"));
}

static ld_status should_migrate(
    void *self, size_t index, const ld_migration_transaction *transaction, ld_bytes context,
    const ld_error_sink *error) {
    (void)self, (void)context;
    const ld_migration_key *keys[] = {&old, &first, &gone};
    return index < SHOUT ? transaction->exists(transaction->context, keys[index], error) : unknown(error);
}

static ld_status move(const ld_migration_transaction *transaction, const ld_error_sink *error) {
    text value = {0};
    ld_sink sink = {sizeof sink, &value, add_value};
    ld_status status = transaction->get(transaction->context, &old, &sink, error);
    if (status == LD_ABSENT) status = fail(error, LD_ERROR_MIGRATION_SOURCE_NOT_FOUND, BYTES("own/old is missing"));
    if (status == LD_OK) {
        status = transaction->set(transaction->context, &new, (ld_bytes){value.bytes, value.count}, error);
    }
    if (status == LD_OK) status = transaction->remove(transaction->context, &old, error);
    drop(&value);
    return status;
}

static ld_status join(const ld_migration_transaction *transaction, const ld_error_sink *error) {
    text addresses = {0}, joined = {0};
    ld_sink names = {sizeof names, &addresses, add_address}, values = {sizeof values, &joined, add_value};
    ld_status status = transaction->names(transaction->context, BYTES("own:notes"), BYTES("n."), &names, error);
    for (size_t at = 0; status == LD_OK && at < addresses.count;) {
        if (transaction->is_cancelled(transaction->context)) {
            status = fail(error, LD_ERROR_CANCELLED, BYTES("the host has given it up"));
            break;
        }
        ld_migration_key key = {.size = sizeof key};
        memcpy(&key.address.count, addresses.bytes + at, sizeof(size_t));
        key.address.data = addresses.bytes + at + sizeof(size_t);
        at += sizeof(size_t) + key.address.count;
        status = transaction->attributes(transaction->context, &key, &joined, add_tag, error);
        if (status == LD_OK) status = transaction->get(transaction->context, &key, &values, error);
        if (status == LD_OK) add(&joined, BYTES(";"));
        if (status == LD_OK) status = transaction->remove(transaction->context, &key, error);
        if (status == LD_ABSENT) status = fail(error, LD_ERROR_MIGRATION_SOURCE_NOT_FOUND, BYTES("a note is missing"));
    }
    if (status == LD_OK) {
        ld_bytes value = {joined.bytes, joined.count};
        status = transaction->set_tagged(transaction->context, &notes, value, BYTES("2"), error);
    }
    drop(&addresses);
    drop(&joined);
    return status;
}

static ld_status migrate(
    void *self, size_t index, const ld_migration_transaction *transaction, ld_bytes context, const ld_sink *result,
    const ld_error_sink *error) {
    (void)self, (void)context;
    ld_status status = index == MOVE ? move(transaction, error)
        : index == JOIN              ? join(transaction, error)
        : index == REMOVE            ? transaction->remove(transaction->context, &gone, error)
                                     : unknown(error);
    if (status != LD_OK) return status;
    return result->write(result->context, BYTES("{\"success\":true,\"migratedCount\":1}")) == 0 ? LD_OK : LD_STOPPED;
}

static ld_status validate(void *self, size_t index, const ld_error_sink *error) {
    (void)self;
    return index < COUNT ? LD_OK : unknown(error);
}

static ld_status convert(
    void *self, size_t index, ld_bytes name, ld_bytes value, const ld_sink *sink, const ld_error_sink *error) {
    (void)self, (void)name;
    if (index != SHOUT) return unknown(error);
    char *copy = malloc(value.count + 1);
    if (copy == NULL) return fail(error, LD_ERROR_NO_SPACE, BYTES("out of memory"));
    for (size_t i = 0; i < value.count; i++) {
        char letter = ((const char *)value.data)[i];
        copy[i] = letter >= 'a' && letter <= 'z' ? (char)(letter - 32) : letter;
    }
    ld_status status = sink->write(sink->context, (ld_bytes){copy, value.count}) == 0 ? LD_OK : LD_STOPPED;
    clear(copy, value.count);
    free(copy);
    return status;
}

static void cancel(void *self, uint64_t call) { (void)self, (void)call; }

static const void *extension(void *self, ld_bytes id) {
    (void)self, (void)id;
    return NULL;
}

static void close_pack(void *self) { (void)self; }

static const ld_migration_pack pack = {
    .size = sizeof pack, .migrations = TEXT(list), .should_migrate = should_migrate, .migrate = migrate,
    .validate = validate, .convert = convert, .cancel = cancel, .extension = extension, .close = close_pack,
};

static ld_status open_pack(
    void *context, const ld_host *host, ld_bytes options, const void **table, const ld_error_sink *error) {
    (void)context, (void)host, (void)options, (void)error;
    *table = &pack;
    return LD_OK;
}

static const ld_component component = {
    .size = sizeof component, .kind = LD_KIND_MIGRATION, .id = TEXT("kept-pack"), .summary = TEXT("migrations of ABI 1.1"),
    .open = open_pack,
};
static const ld_component *const components[] = {&component};
static const ld_plugin plugin = {
    .size = sizeof plugin, .magic = LD_MAGIC, .abi_major = LD_ABI_MAJOR, .abi_minor = LD_ABI_MINOR,
    .name = TEXT("KeptPack"), .version = TEXT("1.0.0"), .components = components, .component_count = 1,
};

LD_EXPORT const void *localdata_plugin_v1(void);
const void *localdata_plugin_v1(void) { return &plugin; }
