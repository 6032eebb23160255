/* The core of the fault injector: counts calls, and makes, halves or fails them, or kills the process. */
#include "faultshim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The process that is about to kill itself, so that its other threads start nothing more. A process id and not a
 * flag, which a fork would inherit. */
static _Atomic long dying;

static long execute(const struct fault_call *call, const long a[6]) {
    if (call->run != NULL) return call->run(a);
    if (!call->cancellable || __libc_single_threaded) return RAW(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    /* glibc's own way to make a system call a cancellation point, up to 2.40 at least. */
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    long result = RAW(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    pthread_setcanceltype(type, NULL);
    return result;
}

static char *put(char *end, const char *text) {
    size_t length = strlen(text);
    memcpy(end, text, length);
    return end + length;
}

static char *put_escaped(char *end, const char *path) {
    for (; *path != '\0'; ++path) {
        char escape = *path == '\t' ? 't' : *path == '\n' ? 'n' : *path == '\\' ? '\\' : '\0';
        if (escape != '\0') *end++ = '\\';
        *end++ = escape != '\0' ? escape : *path;
    }
    return end;
}

static char *put_number(char *end, uint64_t number) {
    char digits[20];
    int count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0) *end++ = digits[--count];
    return end;
}

/* Writes the call's line, in one write(2): what is written outlives SIGKILL. `fate` replaces the result if not NULL. */
static void record(uint64_t n, const struct fault_call *call, const struct fault_target *target, long result,
                   const char *fate) {
    const struct fault_config *config = fault_config();
    if (config->log[0] == '\0') return;
    char line[4 * PATH_MAX + 128];
    char *end = put_number(line, n);
    end = put(put(put(end, "\t"), call->name), "\t");
    end = put_escaped(end, target->first);
    if (target->second[0] != '\0') end = put_escaped(put(end, "\t"), target->second);
    end = put(end, "\t");
    const char *name = result < 0 ? strerrorname_np((int)-result) : NULL;
    if (fate != NULL) {
        end = put(end, fate);
    } else if (name != NULL) {
        end = put(put(end, "-"), name);
    } else {
        if (result < 0) end = put(end, "-");
        end = put_number(end, call->pointer && result > 0 ? 0 : (uint64_t)(result < 0 ? -result : result));
    }
    *end++ = '\n';
    long fd = RAW(SYS_openat, AT_FDCWD, config->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return;
    RAW(SYS_write, fd, line, end - line);
    RAW(SYS_close, fd);
}

/* How many bytes the copy of at most `wanted` finds in its source: a caller may ask for more than there is. */
static unsigned long available(const struct fault_call *call, const long a[6], unsigned long wanted) {
    int source = (int)a[call->source];
    const off_t *offset = (const off_t *)a[call->offset];
    struct statx file;
    if (RAW(SYS_statx, source, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &file) < 0) return wanted;
    if (!S_ISREG(file.stx_mode)) return wanted;
    long from = offset != NULL ? *offset : RAW(SYS_lseek, source, 0, SEEK_CUR);
    unsigned long rest = from >= 0 && (uint64_t)from < file.stx_size ? file.stx_size - (uint64_t)from : 0;
    return rest < wanted ? rest : wanted;
}

static bool halve_vector(const struct fault_call *call, long a[6], struct iovec copy[IOV_MAX]) {
    const struct iovec *vector = (const struct iovec *)a[call->amount];
    long count = a[call->amount + 1];
    if (count <= 0 || count > IOV_MAX) return false;
    size_t total = 0;
    for (long i = 0; i < count; ++i) total += vector[i].iov_len;
    if (total < 2) return false;
    size_t rest = total / 2;
    long used = 0;
    for (; rest > 0; ++used) {
        copy[used] = vector[used];
        if (copy[used].iov_len > rest) copy[used].iov_len = rest;
        rest -= copy[used].iov_len;
    }
    a[call->amount] = L(copy);
    a[call->amount + 1] = used;
    return true;
}

/* Moves the new size half way back to the present one. */
static bool halve_size(const struct fault_call *call, long a[6]) {
    struct statx file;
    long status = call->shape == FAULT_FD ? RAW(SYS_statx, a[call->at], "", AT_EMPTY_PATH, STATX_SIZE, &file)
                                          : RAW(SYS_statx, AT_FDCWD, a[call->at], 0, STATX_SIZE, &file);
    long from = (long)file.stx_size, to = a[call->amount];
    if (status < 0 || to < 0 || (from - to < 2 && to - from < 2)) return false;
    a[call->amount] = from + (to - from) / 2;
    return true;
}

/* Changes a call's arguments to do half of it. False if it can't be half done. */
static bool halve(const struct fault_call *call, long a[6], struct iovec vector[IOV_MAX]) {
    unsigned long amount = (unsigned long)a[call->amount];
    switch (call->tear) {
    case TEAR_NOTHING: return false;
    case TEAR_VECTOR: return halve_vector(call, a, vector);
    case TEAR_SIZE: return halve_size(call, a);
    case TEAR_COPY: amount = available(call, a, amount); break;
    case TEAR_BYTES:
    case TEAR_RANGE: break;
    }
    if (amount < 2) return false;
    a[call->amount] = L(amount / 2);
    return true;
}

static _Noreturn void die(void) {
    RAW(SYS_kill, RAW(SYS_getpid, 0), SIGKILL);
    for (;;) RAW(SYS_exit_group, 128 + SIGKILL); /* the first process of a pid namespace survives its own signal */
}

static long report(uint64_t n, const struct fault_call *call, const struct fault_target *target, long result) {
    record(n, call, target, result, NULL);
    return result;
}

/* Call number `n`, which is the one to hit. */
__attribute__((noinline)) static long inject(uint64_t n, const struct fault_call *call, const long a[6],
                                             const struct fault_target *target) {
    long half[6];
    struct iovec vector[IOV_MAX];
    memcpy(half, a, sizeof half);
    enum fault_mode mode = fault_config()->mode;
    bool returns_count = call->tear == TEAR_BYTES || call->tear == TEAR_COPY || call->tear == TEAR_VECTOR;
    if (mode == MODE_KILL_TORN && !halve(call, half, vector)) mode = MODE_KILL_BEFORE;
    if (mode == MODE_SHORT && (!returns_count || !halve(call, half, vector))) mode = MODE_NONE;

    long error = mode == MODE_ENOSPC ? -ENOSPC : -EIO;
    switch (mode) {
    case MODE_KILL_BEFORE:
        record(n, call, target, 0, "killed-before");
        die();
    case MODE_KILL_TORN:
        execute(call, half);
        record(n, call, target, 0, "killed-torn");
        die();
    case MODE_KILL_AFTER:
        execute(call, a);
        record(n, call, target, 0, "killed-after");
        die();
    case MODE_EIO:
    case MODE_ENOSPC:
        if (call->undo != NULL) call->undo(a, error);
        return report(n, call, target, error);
    case MODE_EIO_AFTER: {
        long result = execute(call, a);
        if (call->undo != NULL && result >= 0) call->undo(a, result);
        return report(n, call, target, error);
    }
    case MODE_SHORT:
        return report(n, call, target, execute(call, half));
    case MODE_STOP:
        /* To this thread, so that it stops here and not some calls later. */
        RAW(SYS_tgkill, RAW(SYS_getpid, 0), RAW(SYS_gettid, 0), SIGSTOP);
        break;
    case MODE_NONE:
        break;
    }
    return report(n, call, target, execute(call, a));
}

long fault_perform(const struct fault_call *call, const long a[6]) {
    const struct fault_config *config = fault_config();
    struct fault_target target;
    if (!config->active || !fault_watched(call, a, &target)) return execute(call, a);
    if (call->counts != NULL && !call->counts(a)) return execute(call, a);

    uint64_t n = atomic_fetch_add(config->counter, 1) + 1;
    bool kills = config->mode >= MODE_KILL_BEFORE && config->mode <= MODE_KILL_AFTER;
    if (config->at != 0 && (n == config->at || (config->every && n > config->at))) {
        if (kills) atomic_store(&dying, RAW(SYS_getpid, 0));
        return inject(n, call, a, &target);
    }
    if (kills && atomic_load(&dying) != 0 && atomic_load(&dying) == RAW(SYS_getpid, 0)) {
        for (;;) RAW(SYS_ppoll, 0, 0, 0, 0); /* the thread that kills is on its way */
    }
    return report(n, call, &target, execute(call, a));
}
