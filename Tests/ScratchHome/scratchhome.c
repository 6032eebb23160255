#define _GNU_SOURCE
#include "scratchhome.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* Other variables that lead to files or to a keychain. Without them, everything follows HOME or leads nowhere. */
static const char *const leads[] = {
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "LOCALDATA_CONFIG",
    "LOCALDATA_PLUGIN_PATH", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
};

static char folder[4096];
static pid_t maker;

const char *ld_scratch_folder(void) { return folder; }

__attribute__((noreturn)) static void refuse(const char *reason, const char *object) {
    fprintf(stderr, "error: the tests would run in a real home: %s%s%s\n", reason, *object ? ": " : "", object);
    _exit(70);
}

static int is_below(const char *path) {
    size_t length = strlen(folder);
    return path && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* Whether a test program started this one in its own scratch home. */
static int is_inherited(void) {
    const char *named = getenv(LD_SCRATCH_VARIABLE);
    if (!named || !*named) return 0;
    struct stat status;
    if (strlen(named) >= sizeof folder || named[0] != '/' || lstat(named, &status) != 0 || !S_ISDIR(status.st_mode))
        refuse(LD_SCRATCH_VARIABLE " names no folder", named);
    strcpy(folder, named);
    const char *home = getenv("HOME");
    if (!is_below(home)) refuse("HOME lies outside of " LD_SCRATCH_VARIABLE, home ? home : "");
    for (size_t index = 0; index < sizeof leads / sizeof *leads; index++) {
        const char *value = getenv(leads[index]);
        if (value && strncmp(leads[index], "XDG_", 4) == 0 && !is_below(value)) refuse(leads[index], value);
    }
    return 1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status, (void)kind, (void)walk;
    (void)remove(path);
    return 0;
}

static void remove_folder(void) {
    if (getpid() == maker) nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

__attribute__((constructor)) static void use_scratch_home(void) {
    if (getauxval(AT_SECURE)) refuse("a program with elevated rights ignores HOME", "");
    if (is_inherited()) return;
    const char *base = getenv("TMPDIR");
    if (!base || base[0] != '/') base = "/tmp";
    int length = snprintf(folder, sizeof folder - sizeof "/home", "%s/localdata-tests.XXXXXX", base);
    if (length < 0 || (size_t)length >= sizeof folder - sizeof "/home" || !mkdtemp(folder))
        refuse("no scratch home can be made in", base);
    maker = getpid();
    atexit(remove_folder);
    char home[sizeof folder];
    snprintf(home, sizeof home, "%s", folder);
    strcat(home, "/home");
    if (chmod(folder, 0755) != 0 || mkdir(home, 0700) != 0) refuse(strerror(errno), home);
    for (size_t index = 0; index < sizeof leads / sizeof *leads; index++) unsetenv(leads[index]);
    if (setenv("HOME", home, 1) != 0 || setenv(LD_SCRATCH_VARIABLE, folder, 1) != 0) refuse(strerror(errno), home);
}
