/*
 * An LD_PRELOAD library that shows the file CHANGING_FILE with another first digit when it is read from its start for
 * the third time, as if it had been changed.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t pread(int file, void *bytes, size_t count, off_t at) {
    static int starts;
    const ssize_t result = syscall(SYS_pread64, file, bytes, count, at);
    const char *path = getenv("CHANGING_FILE");
    struct stat here, there;
    if (at != 0 || result <= 0 || path == NULL || fstat(file, &here) != 0 || stat(path, &there) != 0
        || here.st_ino != there.st_ino || here.st_dev != there.st_dev || ++starts < 3)
        return result;
    for (char *byte = bytes; byte < (char *)bytes + result; byte++) {
        if (*byte < '0' || *byte > '9') continue;
        *byte = *byte == '9' ? '0' : *byte + 1;
        break;
    }
    return result;
}
