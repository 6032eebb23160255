/*
 * Loads a plugin and makes its first call, in a process that has loaded nothing else:
 *
 *     dlopen LIBRARY COMPONENT OPTIONS
 *
 * Prints the microseconds from before dlopen to its end, to the end of `open`, and to the end of the first `exists`.
 */
#include "plugin.h"

int main(int argc, char **argv) {
    if (argc != 4) fail("usage: dlopen LIBRARY COMPONENT OPTIONS");
    const double start = nanoseconds();
    open_plugin(argv[1]);
    const double loaded = nanoseconds();
    const ld_store *store = open_component(argv[1], argv[2], argv[3]);
    const double opened = nanoseconds();
    if (store->exists(store->self, resolve_name(store, "value"), &errors) < LD_OK) fail("exists failed");
    const double called = nanoseconds();
    printf("%.1f %.1f %.1f\n", (loaded - start) / 1000, (opened - start) / 1000, (called - start) / 1000);
    return 0;
}
