/*
 * The layout of ABI 1.1 on machines of 64 bits. A test compiles this against today's header: it fails if a member of a
 * frozen struct moved, a size shrank, or a number changed. Minor 1's part is never edited; a later minor adds a part of its
 * own below it.
 */
#include <localdata/plugin.h>

#define AT(type, member, offset) _Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")
#define SIZE(type, least)                                                                                              \
    _Static_assert(sizeof(type) >= (least), #type " has lost members");                                                \
    _Static_assert(type##_least_size == (least), "the least size of " #type " has changed");                           \
    _Static_assert(sizeof(type) <= LD_LARGEST_STRUCT && sizeof(type) % sizeof(void *) == 0, #type " has no usable size")
#define NUMBER(name, value) _Static_assert((name) == (value), #name " has changed")

/* ---------------------------------------------------------------- minor 1: structs ------------------------------- */

_Static_assert(sizeof(ld_bytes) == 16, "ld_bytes never changes");
AT(ld_bytes, data, 0);
AT(ld_bytes, count, 8);

SIZE(ld_error_sink, 24);
AT(ld_error_sink, size, 0);
AT(ld_error_sink, context, 8);
AT(ld_error_sink, report, 16);

SIZE(ld_sink, 24);
AT(ld_sink, size, 0);
AT(ld_sink, context, 8);
AT(ld_sink, write, 16);

SIZE(ld_source, 24);
AT(ld_source, size, 0);
AT(ld_source, context, 8);
AT(ld_source, read, 16);

SIZE(ld_host, 56);
AT(ld_host, size, 0);
AT(ld_host, context, 8);
AT(ld_host, name, 16);
AT(ld_host, version, 32);
AT(ld_host, extension, 48);

SIZE(ld_host_log, 32);
AT(ld_host_log, size, 0);
AT(ld_host_log, context, 8);
AT(ld_host_log, threshold, 16);
AT(ld_host_log, log, 24);

SIZE(ld_component, 72);
AT(ld_component, size, 0);
AT(ld_component, kind, 4);
AT(ld_component, id, 8);
AT(ld_component, summary, 24);
AT(ld_component, options, 40);
AT(ld_component, context, 56);
AT(ld_component, open, 64);

SIZE(ld_plugin, 64);
AT(ld_plugin, size, 0);
AT(ld_plugin, magic, 4);
AT(ld_plugin, abi_major, 8);
AT(ld_plugin, abi_minor, 10);
AT(ld_plugin, name, 16);
AT(ld_plugin, version, 32);
AT(ld_plugin, components, 48);
AT(ld_plugin, component_count, 56);

SIZE(ld_namespace, 56);
AT(ld_namespace, size, 0);
AT(ld_namespace, domain, 8);
AT(ld_namespace, scope, 24);
AT(ld_namespace, directory, 40);

SIZE(ld_address, 32);
AT(ld_address, size, 0);
AT(ld_address, place, 8);
AT(ld_address, name, 16);

SIZE(ld_attributes, 112);
AT(ld_attributes, size, 0);
AT(ld_attributes, content_type, 8);
AT(ld_attributes, serializer, 24);
AT(ld_attributes, version_tag, 40);
AT(ld_attributes, app_version, 56);
AT(ld_attributes, owner, 72);
AT(ld_attributes, value_size, 88);
AT(ld_attributes, modified, 96);
AT(ld_attributes, expires, 104);

SIZE(ld_store, 96);
AT(ld_store, size, 0);
AT(ld_store, latency, 4);
AT(ld_store, flags, 8);
AT(ld_store, enforces, 12);
AT(ld_store, largest_value, 16);
AT(ld_store, self, 24);
AT(ld_store, resolve, 32);
AT(ld_store, release, 40);
AT(ld_store, get, 48);
AT(ld_store, exists, 56);
AT(ld_store, set, 64);
AT(ld_store, remove, 72);
AT(ld_store, extension, 80);
AT(ld_store, close, 88);

SIZE(ld_store_enumeration, 24);
AT(ld_store_enumeration, size, 0);
AT(ld_store_enumeration, names, 8);
AT(ld_store_enumeration, places, 16);

SIZE(ld_store_attributes, 16);
AT(ld_store_attributes, size, 0);
AT(ld_store_attributes, attributes, 8);

SIZE(ld_store_streaming, 24);
AT(ld_store_streaming, size, 0);
AT(ld_store_streaming, read, 8);
AT(ld_store_streaming, write, 16);

SIZE(ld_operation, 40);
AT(ld_operation, size, 0);
AT(ld_operation, remove, 4);
AT(ld_operation, handle, 8);
AT(ld_operation, value, 16);
AT(ld_operation, attributes, 32);

SIZE(ld_store_batch, 16);
AT(ld_store_batch, size, 0);
AT(ld_store_batch, apply, 8);

SIZE(ld_watcher, 24);
AT(ld_watcher, size, 0);
AT(ld_watcher, context, 8);
AT(ld_watcher, changed, 16);

SIZE(ld_store_watch, 24);
AT(ld_store_watch, size, 0);
AT(ld_store_watch, watch, 8);
AT(ld_store_watch, unwatch, 16);

SIZE(ld_store_transactions, 56);
AT(ld_store_transactions, size, 0);
AT(ld_store_transactions, begin, 8);
AT(ld_store_transactions, get, 16);
AT(ld_store_transactions, set, 24);
AT(ld_store_transactions, remove, 32);
AT(ld_store_transactions, commit, 40);
AT(ld_store_transactions, rollback, 48);

SIZE(ld_store_check, 16);
AT(ld_store_check, size, 0);
AT(ld_store_check, check, 8);

SIZE(ld_store_repair, 16);
AT(ld_store_repair, size, 0);
AT(ld_store_repair, repair, 8);

SIZE(ld_store_verification, 16);
AT(ld_store_verification, size, 0);
AT(ld_store_verification, verify, 8);


SIZE(ld_store_conditional, 32);
AT(ld_store_conditional, size, 0);
AT(ld_store_conditional, get, 8);
AT(ld_store_conditional, set, 16);
AT(ld_store_conditional, remove, 24);

SIZE(ld_store_expiry, 32);
AT(ld_store_expiry, size, 0);
AT(ld_store_expiry, discard, 8);
AT(ld_store_expiry, sweep, 16);
AT(ld_store_expiry, expired, 24);

SIZE(ld_store_lock, 32);
AT(ld_store_lock, size, 0);
AT(ld_store_lock, lock, 8);
AT(ld_store_lock, held, 16);
AT(ld_store_lock, unlock, 24);

SIZE(ld_store_wiping, 16);
AT(ld_store_wiping, size, 0);
AT(ld_store_wiping, wipe, 8);

SIZE(ld_bulk_value, 56);
AT(ld_bulk_value, size, 0);
AT(ld_bulk_value, omitted, 4);
AT(ld_bulk_value, name, 8);
AT(ld_bulk_value, value, 24);
AT(ld_bulk_value, attributes, 40);
AT(ld_bulk_value, mark, 48);

SIZE(ld_bulk_change, 64);
AT(ld_bulk_change, size, 0);
AT(ld_bulk_change, flags, 4);
AT(ld_bulk_change, place, 8);
AT(ld_bulk_change, name, 16);
AT(ld_bulk_change, value, 32);
AT(ld_bulk_change, attributes, 48);
AT(ld_bulk_change, mark, 56);

SIZE(ld_store_bulk, 24);
AT(ld_store_bulk, size, 0);
AT(ld_store_bulk, read, 8);
AT(ld_store_bulk, apply, 16);

SIZE(ld_algorithm, 32);
AT(ld_algorithm, size, 0);
AT(ld_algorithm, id, 4);
AT(ld_algorithm, key_size, 8);
AT(ld_algorithm, nonce_size, 12);
AT(ld_algorithm, tag_size, 16);
AT(ld_algorithm, flags, 20);
AT(ld_algorithm, largest, 24);

SIZE(ld_derivation, 72);
AT(ld_derivation, size, 0);
AT(ld_derivation, lanes, 4);
AT(ld_derivation, secret, 8);
AT(ld_derivation, salt, 24);
AT(ld_derivation, info, 40);
AT(ld_derivation, iterations, 56);
AT(ld_derivation, memory, 64);

SIZE(ld_crypto, 96);
AT(ld_crypto, size, 0);
AT(ld_crypto, reserved, 4);
AT(ld_crypto, algorithms, 8);
AT(ld_crypto, algorithm_count, 16);
AT(ld_crypto, self, 24);
AT(ld_crypto, seal, 32);
AT(ld_crypto, open, 40);
AT(ld_crypto, derive, 48);
AT(ld_crypto, random, 56);
AT(ld_crypto, extension, 64);
AT(ld_crypto, close, 72);
AT(ld_crypto, public_key, 80);
AT(ld_crypto, agree, 88);


SIZE(ld_crypto_signatures, 32);
AT(ld_crypto_signatures, size, 0);
AT(ld_crypto_signatures, public_key, 8);
AT(ld_crypto_signatures, sign, 16);
AT(ld_crypto_signatures, verify, 24);

SIZE(ld_sync_record, 56);
AT(ld_sync_record, size, 0);
AT(ld_sync_record, reserved, 4);
AT(ld_sync_record, writer, 8);
AT(ld_sync_record, name, 24);
AT(ld_sync_record, content, 40);

SIZE(ld_sync_subscriber, 24);
AT(ld_sync_subscriber, size, 0);
AT(ld_sync_subscriber, context, 8);
AT(ld_sync_subscriber, notify, 16);

SIZE(ld_sync, 88);
AT(ld_sync, size, 0);
AT(ld_sync, reserved, 4);
AT(ld_sync, largest_record, 8);
AT(ld_sync, self, 16);
AT(ld_sync, publish, 24);
AT(ld_sync, remove, 32);
AT(ld_sync, fetch, 40);
AT(ld_sync, subscribe, 48);
AT(ld_sync, unsubscribe, 56);
AT(ld_sync, cancel, 64);
AT(ld_sync, extension, 72);
AT(ld_sync, close, 80);

SIZE(ld_migration_key, 56);
AT(ld_migration_key, size, 0);
AT(ld_migration_key, address, 8);
AT(ld_migration_key, serializer, 24);
AT(ld_migration_key, security, 40);

SIZE(ld_migration_transaction, 88);
AT(ld_migration_transaction, size, 0);
AT(ld_migration_transaction, reserved, 4);
AT(ld_migration_transaction, context, 8);
AT(ld_migration_transaction, call, 16);
AT(ld_migration_transaction, get, 24);
AT(ld_migration_transaction, exists, 32);
AT(ld_migration_transaction, set, 40);
AT(ld_migration_transaction, remove, 48);
AT(ld_migration_transaction, is_cancelled, 56);
AT(ld_migration_transaction, names, 64);
AT(ld_migration_transaction, attributes, 72);
AT(ld_migration_transaction, set_tagged, 80);

SIZE(ld_migration_pack, 88);
AT(ld_migration_pack, size, 0);
AT(ld_migration_pack, reserved, 4);
AT(ld_migration_pack, migrations, 8);
AT(ld_migration_pack, self, 24);
AT(ld_migration_pack, should_migrate, 32);
AT(ld_migration_pack, migrate, 40);
AT(ld_migration_pack, validate, 48);
AT(ld_migration_pack, convert, 56);
AT(ld_migration_pack, cancel, 64);
AT(ld_migration_pack, extension, 72);
AT(ld_migration_pack, close, 80);

/* ---------------------------------------------------------------- minor 1: numbers ------------------------------- */

NUMBER(LD_ABI_MAJOR, 1);
_Static_assert(LD_ABI_MINOR >= 1, "a minor only grows");
NUMBER(LD_LARGEST_STRUCT, 4096);
NUMBER(LD_MAGIC, 0x4c50444cu);
NUMBER(LD_OK, 0);
NUMBER(LD_ABSENT, 1);
NUMBER(LD_STOPPED, 2);
NUMBER(LD_EXPIRED, 3);
NUMBER(LD_FAILED, -1);
NUMBER(LD_ERROR_NOT_FOUND, 1);
NUMBER(LD_ERROR_SERIALIZATION, 2);
NUMBER(LD_ERROR_DESERIALIZATION, 3);
NUMBER(LD_ERROR_SECURITY, 4);
NUMBER(LD_ERROR_KEYCHAIN, 5);
NUMBER(LD_ERROR_FILE, 6);
NUMBER(LD_ERROR_INVALID_SUITE, 7);
NUMBER(LD_ERROR_INVALID_APP_GROUP, 8);
NUMBER(LD_ERROR_TOO_LARGE_FOR_SYNC, 9);
NUMBER(LD_ERROR_UNREGISTERED_KEY, 10);
NUMBER(LD_ERROR_DUPLICATE_KEYS, 11);
NUMBER(LD_ERROR_MISSING_DESCRIPTION, 12);
NUMBER(LD_ERROR_PHONE_ONLY, 13);
NUMBER(LD_ERROR_WATCH_ONLY, 14);
NUMBER(LD_ERROR_UNKNOWN, 15);
NUMBER(LD_ERROR_INVALID_ADDRESS, 32);
NUMBER(LD_ERROR_VALUE_TOO_LARGE, 33);
NUMBER(LD_ERROR_STORE_UNAVAILABLE, 34);
NUMBER(LD_ERROR_BUSY, 35);
NUMBER(LD_ERROR_TIMED_OUT, 36);
NUMBER(LD_ERROR_CANCELLED, 37);
NUMBER(LD_ERROR_CORRUPT, 38);
NUMBER(LD_ERROR_UNSUPPORTED, 39);
NUMBER(LD_ERROR_INVALID_CONFIGURATION, 40);
NUMBER(LD_ERROR_INVALID_OPTIONS, 41);
NUMBER(LD_ERROR_PLUGIN_REFUSED, 42);
NUMBER(LD_ERROR_COMPONENT_NOT_FOUND, 43);
NUMBER(LD_ERROR_COMPONENT_AMBIGUOUS, 44);
NUMBER(LD_ERROR_PERMISSION_DENIED, 45);
NUMBER(LD_ERROR_NO_SPACE, 46);
NUMBER(LD_ERROR_DURABILITY_UNKNOWN, 47);
NUMBER(LD_ERROR_CANNOT_OPEN, 48);
NUMBER(LD_ERROR_CONFLICT, 49);
NUMBER(LD_ERROR_POSITION_LOST, 50);
NUMBER(LD_ERROR_MIGRATION_VALIDATION, 64);
NUMBER(LD_ERROR_MIGRATION_TRANSFORMATION, 65);
NUMBER(LD_ERROR_MIGRATION_STORAGE, 66);
NUMBER(LD_ERROR_MIGRATION_CONDITION, 67);
NUMBER(LD_ERROR_MIGRATION_IN_PROGRESS, 68);
NUMBER(LD_ERROR_MIGRATION_SOURCE_NOT_FOUND, 69);
NUMBER(LD_ERROR_MIGRATION_INCOMPATIBLE_TYPES, 70);
NUMBER(LD_ERROR_MIGRATION_AGGREGATION, 71);
NUMBER(LD_ERROR_MIGRATION_DECODING, 72);
NUMBER(LD_ERROR_MIGRATION_NO_PATH, 73);
NUMBER(LD_ERROR_MIGRATION_FINAL_TYPE, 74);
NUMBER(LD_ERROR_MIGRATION_CONFLICT, 75);
NUMBER(LD_ERROR_MIGRATION_NEWER_REVISION, 76);
NUMBER(LD_ERROR_MIGRATION_DEPENDENCY, 77);
NUMBER(LD_ERROR_MIGRATION_PACK, 78);
NUMBER(LD_ERROR_MIGRATION_AMBIGUOUS, 79);
NUMBER(LD_ERROR_MIGRATION_NEWER_VERSION, 80);
NUMBER(LD_ERROR_MIGRATION_CYCLE, 81);
NUMBER(LD_ERROR_MIGRATION_DUPLICATE, 82);
NUMBER(LD_KIND_STORAGE, 1);
NUMBER(LD_KIND_CRYPTO, 2);
NUMBER(LD_KIND_SYNC, 3);
NUMBER(LD_KIND_MIGRATION, 4);
NUMBER(LD_LATENCY_MEMORY, 0);
NUMBER(LD_LATENCY_DISK, 1);
NUMBER(LD_LATENCY_NETWORK, 2);
NUMBER(LD_LATENCY_INTERACTIVE, 3);
NUMBER(LD_STORE_DURABLE, 1u);
NUMBER(LD_STORE_SHARED, 2u);
NUMBER(LD_STORE_KEYCHAIN, 4u);
NUMBER(LD_STORE_FOLDERS_APART, 8u);
NUMBER(LD_VALUE_UNRECORDED, 0u);
NUMBER(LD_VALUE_INTACT, 1u);
NUMBER(LD_VALUE_EDITED, 2u);
NUMBER(LD_IF_ANYTHING, 0u);
NUMBER(LD_IF_ABSENT, 1u);
NUMBER(LD_IF_REVISION, 2u);
NUMBER(LD_BULK_REMOVE, 1u);
NUMBER(LD_BULK_EXPECT, 2u);
NUMBER(LD_AES_256_GCM, 1);
NUMBER(LD_CHACHA20_POLY1305, 2);
NUMBER(LD_XCHACHA20_POLY1305, 3);
NUMBER(LD_HKDF_SHA256, 16);
NUMBER(LD_PBKDF2_HMAC_SHA256, 17);
NUMBER(LD_ARGON2ID, 18);
NUMBER(LD_HKDF_SHA512, 19);
NUMBER(LD_PBKDF2_HMAC_SHA512, 20);
NUMBER(LD_X25519, 32);
NUMBER(LD_ED25519, 33);
NUMBER(LD_SYNC_CHANGED, 0);
NUMBER(LD_SYNC_REACHABLE, 1);
NUMBER(LD_SYNC_UNREACHABLE, 2);
