/* Looks for secrets that a program leaves in its memory: an LD_PRELOAD library for glibc.
 *
 *     cc -std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC -o memoryscan.so Tests/MemoryScan/memoryscan.c
 *     LD_PRELOAD=$PWD/memoryscan.so LD_SCAN_SECRETS=/tmp/secret LD_SCAN_REPORT=/tmp/report program
 *
 * When the program calls exit, _exit, _Exit or quick_exit, or returns from main, the library goes through every readable
 * mapping of the process, before any exit handler of the program or of a library runs.
 *
 * LD_SCAN_SECRETS=FILE[:FILE...]  Each file's content is a secret of at least 8 bytes. The files are read at the end, to
 *                  memory that is not searched, so the search does not find itself. Every 8 bytes at an offset that is
 *                  a multiple of 8, and the last 8, are searched for at any address: any 15 bytes of a secret that are
 *                  left are found. A piece in which all bytes are the same is not searched for.
 * LD_SCAN_REPORT=FILE             Gets lines, appended: for each piece of a secret that is found
 *                      found FILE FIRST END ADDRESS PLACE
 *                  (the bytes FIRST to END, exclusive, of the secret; PLACE is what /proc/self/maps says of the mapping:
 *                  [heap], [stack], a library's path, or `anonymous` for the stacks and heaps of threads and large
 *                  blocks), and at the end of the search
 *                      searched BYTES MAPPINGS UNREADABLE
 *
 * Not searched: memory that the program has given back to the system, registers, other processes, buffers of the
 * kernel. A program that a signal ends is not searched. Without both settings nothing is done. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WINDOW = 8, SECRETS = 64, OWN = SECRETS + 4, PIECE = 1 << 20 };

/* Eight bytes to search for. */
struct window {
    uint64_t bytes;
    uint32_t secret; /* its number and 1; 0: none */
    uint32_t offset;
};

struct secret {
    const char *name;
    const unsigned char *bytes;
    size_t size;
};

/* The last finding, which may continue. */
struct run {
    bool open;
    uint32_t secret, first, end;
    uintptr_t address;
};

static struct secret secrets[SECRETS];
static unsigned secret_count;
static struct window *table;
static uint64_t table_mask;
static unsigned char *filter; /* a bit for each hash, so that the table is seldom asked */
static uint64_t filter_mask;
static uintptr_t own[OWN][2]; /* memory of the search itself */
static unsigned own_count;
static FILE *report;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "memoryscan: %s: %m\n", what);
    syscall(SYS_exit_group, 125);
    for (;;) continue;
}

static void *allocate(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || own_count == OWN) fail("memory");
    own[own_count][0] = (uintptr_t)memory;
    own[own_count++][1] = (uintptr_t)memory + size;
    return memory;
}

static uint64_t hash(uint64_t bytes) {
    bytes *= 0x9E3779B97F4A7C15u;
    return bytes ^ bytes >> 29;
}

static uint64_t load(const unsigned char *at) {
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

static void read_secret(char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0 || status.st_size < WINDOW || secret_count == SECRETS) fail(path);
    size_t size = (size_t)status.st_size, filled = 0;
    unsigned char *bytes = allocate(size);
    while (filled < size) {
        ssize_t count = read(fd, bytes + filled, size - filled);
        if (count <= 0) fail(path);
        filled += (size_t)count;
    }
    close(fd);
    secrets[secret_count++] = (struct secret){path, bytes, size};
}

static void add_window(uint32_t number, size_t offset) {
    uint64_t bytes = load(secrets[number].bytes + offset);
    if (bytes == (bytes & 0xff) * 0x0101010101010101u) return;
    uint64_t h = hash(bytes), slot = h & table_mask;
    while (table[slot].secret != 0) {
        if (table[slot].bytes == bytes) return;
        slot = (slot + 1) & table_mask;
    }
    table[slot] = (struct window){bytes, number + 1, (uint32_t)offset};
    filter[(h & filter_mask) >> 3] |= (unsigned char)(1u << (h & 7));
}

static void make_table(void) {
    size_t windows = 0;
    for (unsigned i = 0; i < secret_count; ++i) windows += secrets[i].size / WINDOW + 1;
    uint64_t slots = 1024;
    while (slots < 2 * windows) slots *= 2;
    table = allocate(slots * sizeof *table);
    table_mask = slots - 1;
    filter = allocate(slots);
    filter_mask = 8 * slots - 1;
    for (uint32_t i = 0; i < secret_count; ++i) {
        for (size_t offset = 0; offset + WINDOW <= secrets[i].size; offset += WINDOW) add_window(i, offset);
        add_window(i, secrets[i].size - WINDOW);
    }
}

static const struct window *find(uint64_t bytes) {
    uint64_t h = hash(bytes);
    if (!(filter[(h & filter_mask) >> 3] >> (h & 7) & 1)) return NULL;
    for (uint64_t slot = h & table_mask; table[slot].secret != 0; slot = (slot + 1) & table_mask) {
        if (table[slot].bytes == bytes) return &table[slot];
    }
    return NULL;
}

static void end_run(struct run *run, const char *place) {
    if (!run->open) return;
    run->open = false;
    fprintf(report, "found %s %u %u %lx %s\n", secrets[run->secret].name, run->first, run->end,
            (unsigned long)run->address, place);
}

static void take(struct run *run, const struct window *window, uintptr_t address, const char *place) {
    uint32_t secret = window->secret - 1, end = window->offset + WINDOW;
    bool goes_on = run->open && run->secret == secret && window->offset >= run->first &&
                   address - run->address == window->offset - run->first && window->offset <= run->end;
    if (!goes_on) {
        end_run(run, place);
        *run = (struct run){true, secret, window->offset, end, address};
    }
    run->end = end;
}

static void search(uintptr_t start, uintptr_t end, const char *place, unsigned char *buffer, size_t *bytes,
                   size_t *unreadable) {
    struct run run = {0};
    for (uintptr_t at = start; at < end;) {
        size_t size = end - at < PIECE ? end - at : PIECE;
        struct iovec local = {buffer, size}, remote = {(void *)at, size};
        /* A mapping may disappear meanwhile; the kernel then reports an error. */
        ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
        if (got < WINDOW) {
            *unreadable += end - at;
            break;
        }
        for (size_t i = 0; i + WINDOW <= (size_t)got; ++i) {
            const struct window *window = find(load(buffer + i));
            if (window != NULL) take(&run, window, at + i, place);
        }
        *bytes += (size_t)got;
        if (at + (size_t)got == end) break;
        /* A window may cross the boundary between two pieces. */
        at += (size_t)got - (WINDOW - 1);
    }
    end_run(&run, place);
}

/* Searches the part of a mapping that does not belong to the search itself. */
static void search_mapping(uintptr_t start, uintptr_t end, const char *place, unsigned char *buffer, size_t *bytes,
                           size_t *unreadable) {
    while (start < end) {
        uintptr_t stop = end, next = end;
        for (unsigned i = 0; i < own_count; ++i) {
            if (own[i][0] <= start && start < own[i][1]) {
                stop = start;
                next = own[i][1];
            } else if (start < own[i][0] && own[i][0] < stop) {
                stop = next = own[i][0];
            }
        }
        if (stop > start) search(start, stop, place, buffer, bytes, unreadable);
        start = next;
    }
}

static void scan(void) {
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&done)) return;
    const char *files = getenv("LD_SCAN_SECRETS"), *to = getenv("LD_SCAN_REPORT");
    if (files == NULL || to == NULL || *files == '\0' || *to == '\0') return;
    /* The list outlives the parts that it is cut into, which are the secrets' names. */
    char *list = strdup(files), *rest = list;
    for (char *path; (path = strsep(&rest, ":")) != NULL;) read_secret(path);
    make_table();
    unsigned char *buffer = allocate(PIECE);
    report = fopen(to, "ae");
    FILE *maps = fopen("/proc/self/maps", "re");
    if (report == NULL || maps == NULL) fail(to);
    char line[8192];
    size_t bytes = 0, unreadable = 0;
    unsigned mappings = 0;
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, end;
        char permissions[5];
        int path = 0;
        if (sscanf(line, "%lx-%lx %4s %*x %*s %*u %n", &start, &end, permissions, &path) < 3) continue;
        line[strcspn(line, "\n")] = '\0';
        const char *place = path > 0 && line[path] != '\0' ? line + path : "anonymous";
        /* The kernel's own pages. */
        if (permissions[0] != 'r' || strcmp(place, "[vvar]") == 0 || strcmp(place, "[vsyscall]") == 0) continue;
        ++mappings;
        search_mapping(start, end, place, buffer, &bytes, &unreadable);
    }
    fclose(maps);
    fprintf(report, "searched %zu %u %zu\n", bytes, mappings, unreadable);
    if (fclose(report) != 0) fail(to);
}

__attribute__((destructor)) static void at_return(void) { scan(); }

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define REPLACE(name) \
    void name(int status) { \
        scan(); \
        NEXT(name)(status); \
        for (;;) continue; \
    }
REPLACE(exit)
REPLACE(_exit)
REPLACE(_Exit)
REPLACE(quick_exit)
