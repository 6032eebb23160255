/*
 * Calls libsecret as a straightforward program does: secrets COLLECTION
 *
 * Reads lines "set SIZE COUNT", "get SIZE COUNT" and "list ITEMS COUNT" from standard input and answers each with the
 * nanoseconds of one operation: secret_password_store_sync, secret_password_lookup_sync, and secret_service_search_sync
 * for all items of a service with their attributes, which "fill ITEMS 1" makes. COLLECTION is a path or an alias.
 */
#define SECRET_API_SUBJECT_TO_CHANGE
#include <libsecret/secret.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const SecretSchema schema = {
    .name = "org.freedesktop.Secret.Generic",
    .attributes = {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"username", SECRET_SCHEMA_ATTRIBUTE_STRING}},
};

static _Noreturn void fail(const char *what, GError *error) {
    fprintf(stderr, "error: %s: %s\n", what, error == NULL ? "not as expected" : error->message);
    exit(1);
}

static double nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void set(const char *collection, const char *service, const char *name, const char *value) {
    GError *error = NULL;
    if (!secret_password_store_sync(
            &schema, collection, name, value, NULL, &error, "service", service, "username", name, NULL)) {
        fail("store", error);
    }
}

static void get(const char *name, size_t size) {
    GError *error = NULL;
    gchar *value = secret_password_lookup_sync(&schema, NULL, &error, "service", "raw", "username", name, NULL);
    if (value == NULL || strlen(value) != size) fail("lookup", error);
    secret_password_free(value);
}

static void list(size_t count) {
    GError *error = NULL;
    GHashTable *wanted = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_insert(wanted, "service", "raw-list");
    GList *items = secret_service_search_sync(NULL, &schema, wanted, SECRET_SEARCH_ALL, NULL, &error);
    if (error != NULL) fail("search", error);
    size_t found = 0, letters = 0;
    for (GList *item = items; item != NULL; item = item->next) {
        GHashTable *attributes = secret_item_get_attributes(item->data);
        const char *name = g_hash_table_lookup(attributes, "username");
        if (name != NULL) found++, letters += strlen(name);
        g_hash_table_unref(attributes);
    }
    if (found != count || letters == 0) fail("search", NULL);
    g_list_free_full(items, g_object_unref);
    g_hash_table_unref(wanted);
}

static void act(const char *collection, const char *action, size_t size, const char *value) {
    char name[64];
    snprintf(name, sizeof(name), "value-%zu", size);
    if (strcmp(action, "set") == 0) return set(collection, "raw", name, value);
    if (strcmp(action, "get") == 0) return get(name, size);
    if (strcmp(action, "list") == 0) return list(size);
    for (size_t i = 0; i < size; i++) {
        snprintf(name, sizeof(name), "item-%zu", i);
        set(collection, "raw-list", name, "x");
    }
}

int main(int argc, char **argv) {
    if (argc != 2) fail("usage: secrets COLLECTION", NULL);
    char action[8];
    size_t size;
    long count;
    while (scanf("%7s %zu %ld", action, &size, &count) == 3) {
        char *value = malloc(size + 1);
        if (value == NULL) fail("malloc", NULL);
        memset(value, 'x', size);
        value[size] = 0;
        const double start = nanoseconds();
        for (long i = 0; i < count; i++) act(argv[1], action, size, value);
        printf("%.1f\n", (nanoseconds() - start) / (double)count);
        fflush(stdout);
        free(value);
    }
    return 0;
}
