/* The fault injector's settings: LD_FAULT_*, described in faultshim.c. */
#include "faultshim.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct fault_config config;
static _Atomic uint64_t own_counter;

static const struct {
    const char *name;
    enum fault_mode mode;
} modes[] = {
    {"kill-before", MODE_KILL_BEFORE}, {"kill-torn", MODE_KILL_TORN}, {"kill-after", MODE_KILL_AFTER},
    {"eio", MODE_EIO},                 {"enospc", MODE_ENOSPC},       {"eio-after", MODE_EIO_AFTER},
    {"short", MODE_SHORT},             {"stop", MODE_STOP},
};

/* A misconfigured campaign must not pass for one that found nothing. */
static _Noreturn void refuse(const char *variable, const char *value, const char *reason) {
    const char *parts[] = {"faultshim: ", variable, "=", value, ": ", reason, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) RAW(SYS_write, STDERR_FILENO, parts[i], strlen(parts[i]));
    for (;;) RAW(SYS_exit_group, 125);
}

/* Where the kernel has put the argument count, the arguments, NULL, and the environment: the loader's own note. */
extern void *__libc_stack_end;

/* The variable's value, NULL if unset or empty. */
static const char *setting(const char *name) {
    char **variable = environ;
    if (variable == NULL) { /* libc isn't set up yet: a call from .preinit_array */
        long *count = __libc_stack_end;
        variable = (char **)(count + 1) + *count + 1;
    }
    size_t length = strlen(name);
    for (; *variable != NULL; ++variable) {
        const char *value = *variable + length + 1;
        if (strncmp(*variable, name, length) == 0 && value[-1] == '=') return value[0] != '\0' ? value : NULL;
    }
    return NULL;
}

static void read_roots(void) {
    static const char name[] = "LD_FAULT_ROOT";
    const char *value = setting(name);
    for (const char *rest = value; rest != NULL && *rest != '\0';) {
        char root[PATH_MAX];
        size_t length = strcspn(rest, ":");
        if (length >= sizeof root) refuse(name, value, "a path is too long");
        memcpy(root, rest, length);
        root[length] = '\0';
        if (length > 0 && !fault_add_root(root)) refuse(name, value, "too many roots, or a path is too long");
        rest += length + (rest[length] == ':');
    }
}

static void read_point(void) {
    const char *value = setting("LD_FAULT_AT");
    char *end = NULL;
    if (value != NULL) {
        config.at = strtoull(value, &end, 10);
        if (*end != '\0' || value[0] == '-') refuse("LD_FAULT_AT", value, "expected the number of a call, from 1");
    }
    if (config.at == 0) return;
    const char *mode = setting("LD_FAULT_MODE");
    for (size_t i = 0; mode != NULL && i < sizeof modes / sizeof *modes; ++i) {
        if (strcmp(mode, modes[i].name) == 0) config.mode = modes[i].mode;
    }
    if (config.mode == MODE_NONE) {
        refuse("LD_FAULT_MODE", mode == NULL ? "" : mode,
               "expected kill-before, kill-torn, kill-after, eio, enospc, eio-after, short or stop");
    }
    const char *every = setting("LD_FAULT_EVERY");
    config.every = every != NULL && strcmp(every, "0") != 0;
}

static void open_log(void) {
    const char *value = setting("LD_FAULT_LOG");
    if (value == NULL) return;
    /* Absolute, since the process may change its directory; closed again, since it may close what it doesn't know. */
    if (!fault_resolve(AT_FDCWD, value, config.log)) refuse("LD_FAULT_LOG", value, "the path is too long");
    long fd = RAW(SYS_openat, AT_FDCWD, config.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) refuse("LD_FAULT_LOG", value, "can't be opened for writing");
    RAW(SYS_close, fd);
}

static void map_counter(void) {
    static const char name[] = "LD_FAULT_COUNT";
    const char *value = setting(name);
    config.counter = &own_counter;
    if (value == NULL) return;
    long fd = RAW(SYS_openat, AT_FDCWD, value, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) refuse(name, value, "can't be opened for reading and writing");
    /* Another process may count already: grow the file, never clear it. */
    long size = RAW(SYS_lseek, fd, 0, SEEK_END);
    if (size < (long)sizeof(uint64_t) && RAW(SYS_ftruncate, fd, sizeof(uint64_t)) < 0) {
        refuse(name, value, "can't be made 8 bytes long");
    }
    long address = RAW(SYS_mmap, 0, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (address < 0 && address >= -4095) refuse(name, value, "can't be mapped");
    RAW(SYS_close, fd);
    config.counter = (_Atomic uint64_t *)address;
}

static void configure(void) {
    read_roots();
    read_point();
    open_log();
    map_counter();
    config.active = config.at != 0 || config.log[0] != '\0' || config.counter != &own_counter;
}

const struct fault_config *fault_config(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure);
    return &config;
}

/* For a process that a server has forked: reads the settings of the environment as it is now, and counts from 1. No
 * other thread may be running. */
__attribute__((visibility("default"))) void ld_fault_configure_again(void) {
    fault_config(); /* so that it does not happen later */
    fault_forget_roots();
    memset(&config, 0, sizeof config);
    own_counter = 0;
    configure();
}

/* Before the program can change its environment. */
__attribute__((constructor)) static void configure_on_load(void) {
    fault_config();
}
