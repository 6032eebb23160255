/* The fault injector's view of paths: which file a call is about, and whether it lies under a root. */
#include "faultshim.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOT_LIMIT = 32 };

static char roots[ROOT_LIMIT][PATH_MAX];
static int root_count;

static const char *after(const char *text, const char *prefix) {
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* Reads a number in `base`, as /proc prints it, and advances `text` past it. False if there is no number. */
static bool read_number(const char **text, int base, unsigned long *number) {
    const char *start = *text;
    *number = 0;
    for (;; ++*text) {
        unsigned char c = (unsigned char)**text;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
        if (digit >= base) return *text != start;
        *number = *number * (unsigned)base + (unsigned)digit;
    }
}

/* Removes the mark that the kernel appends to the name of an unlinked file, unless it is the file's real name. */
static void strip_deleted_mark(int fd, char *path) {
    static const char mark[] = " (deleted)";
    size_t length = strlen(path), tail = sizeof mark - 1;
    if (length <= tail || strcmp(path + length - tail, mark) != 0) return;
    struct statx named, open;
    bool real = fd >= 0 && RAW(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO, &named) == 0 &&
                RAW(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_INO, &open) == 0 && named.stx_ino == open.stx_ino &&
                named.stx_dev_major == open.stx_dev_major && named.stx_dev_minor == open.stx_dev_minor;
    if (!real) path[length - tail] = '\0';
}

/* The path an open descriptor has now; false for pipes, sockets, anonymous inodes and closed descriptors. */
static bool path_of_descriptor(int fd, char out[PATH_MAX]) {
    if (fd < 0) return false;
    char link[32] = "/proc/self/fd/", digits[12];
    int count = 0;
    for (unsigned rest = (unsigned)fd; count == 0 || rest > 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
    for (char *end = link + strlen(link); count > 0;) *end++ = digits[--count];
    long length = RAW(SYS_readlinkat, AT_FDCWD, link, out, PATH_MAX - 1);
    if (length <= 0 || out[0] != '/') return false;
    out[length] = '\0';
    strip_deleted_mark(fd, out);
    return true;
}

/* Appends `path` to the normalised `out` of `length` bytes, without ".", ".." and empty components. */
static bool append_normalised(char out[PATH_MAX], size_t length, const char *path) {
    if (length == 1) length = 0; /* "/" */
    while (*path != '\0') {
        size_t size = strcspn(path, "/");
        if (size == 2 && path[0] == '.' && path[1] == '.') {
            while (length > 0 && out[--length] != '/') continue;
        } else if (size > 0 && !(size == 1 && path[0] == '.')) {
            if (length + 1 + size >= PATH_MAX) return false;
            out[length] = '/';
            memcpy(out + length + 1, path, size);
            length += 1 + size;
        }
        path += size;
        while (*path == '/') ++path;
    }
    if (length == 0) out[length++] = '/';
    out[length] = '\0';
    return true;
}

bool fault_resolve(int dirfd, const char *path, char out[PATH_MAX]) {
    /* "/proc/self/fd/N" is the usual way to name a file that is open: linkat after O_TMPFILE, chmod on O_PATH. */
    const char *rest = after(path, "/proc/self/fd/");
    unsigned long number;
    if (rest != NULL && read_number(&rest, 10, &number) && (*rest == '/' || *rest == '\0')) {
        dirfd = (int)number;
        path = rest + strspn(rest, "/");
    }
    if (path[0] == '/') return append_normalised(out, 0, path);
    if (dirfd == AT_FDCWD) {
        if (RAW(SYS_getcwd, out, PATH_MAX) <= 0 || out[0] != '/') return false;
    } else if (!path_of_descriptor(dirfd, out)) {
        return false;
    }
    return append_normalised(out, strlen(out), path);
}

/* The file mapped at `address`, from /proc/self/maps: "start-end perms offset device inode   path". */
static bool path_of_address(unsigned long address, char out[PATH_MAX]) {
    long fd = RAW(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return false;
    char text[PATH_MAX + 256];
    size_t filled = 0;
    bool found = false;
    for (bool searching = true; searching;) {
        long got = RAW(SYS_read, fd, text + filled, sizeof text - 1 - filled);
        if (got <= 0) break;
        filled += (size_t)got;
        text[filled] = '\0';
        char *line = text, *end;
        for (; searching && (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            const char *p = line;
            unsigned long first, last;
            if (!read_number(&p, 16, &first) || *p++ != '-' || !read_number(&p, 16, &last)) continue;
            if (address < first || address >= last) continue;
            searching = false;
            const char *path = strchr(p, '/');
            if (path != NULL && strlen(path) < PATH_MAX) {
                strcpy(out, path);
                strip_deleted_mark(-1, out);
                found = true;
            }
        }
        filled -= (size_t)(line - text);
        memmove(text, line, filled);
        if (filled == sizeof text - 1) break;
    }
    RAW(SYS_close, fd);
    return found;
}

static bool under_a_root(const char *path) {
    if (root_count == 0) {
        bool device = after(path, "/dev/") != NULL && after(path, "/dev/shm/") == NULL;
        return !device && after(path, "/memfd:") == NULL;
    }
    for (int i = 0; i < root_count; ++i) {
        const char *rest = after(path, roots[i]);
        if (rest != NULL && (*rest == '\0' || *rest == '/' || roots[i][1] == '\0')) return true;
    }
    return false;
}

static bool store_root(const char *path) {
    for (int i = 0; i < root_count; ++i) {
        if (strcmp(roots[i], path) == 0) return true;
    }
    if (root_count == ROOT_LIMIT) return false;
    strcpy(roots[root_count++], path);
    return true;
}

void fault_forget_roots(void) {
    root_count = 0;
}

bool fault_add_root(const char *path) {
    char resolved[PATH_MAX];
    if (!fault_resolve(AT_FDCWD, path, resolved) || !store_root(resolved)) return false;
    /* Descriptors show real paths. */
    long fd = RAW(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
    if (fd < 0) return true;
    bool stored = !path_of_descriptor((int)fd, resolved) || store_root(resolved);
    RAW(SYS_close, fd);
    return stored;
}

bool fault_watched(const struct fault_call *call, const long a[6], struct fault_target *target) {
    const long *at = a + call->at;
    target->second[0] = '\0';
    switch (call->shape) {
    case FAULT_FD:
        if (root_count == 0 && at[0] <= STDERR_FILENO) return false;
        return path_of_descriptor((int)at[0], target->first) && under_a_root(target->first);
    case FAULT_PATH:
        return at[0] != 0 && fault_resolve(AT_FDCWD, (const char *)at[0], target->first) &&
               under_a_root(target->first);
    case FAULT_AT:
        return at[1] != 0 && fault_resolve((int)at[0], (const char *)at[1], target->first) &&
               under_a_root(target->first);
    case FAULT_TWO:
        if (at[1] == 0 || !fault_resolve((int)at[0], (const char *)at[1], target->first)) return false;
        if (at[3] == 0 || !fault_resolve((int)at[2], (const char *)at[3], target->second)) return false;
        return under_a_root(target->first) || under_a_root(target->second);
    case FAULT_ADDRESS:
        return path_of_address((unsigned long)at[0], target->first) && under_a_root(target->first);
    case FAULT_ALL:
        strcpy(target->first, "/");
        return true;
    }
    return false;
}
