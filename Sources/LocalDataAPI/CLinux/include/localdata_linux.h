/* What Linux offers and Swift's Glibc module does not show. Header only: each image that uses it gets its own copy,
 * so that a plugin never binds to the host's. */
#ifndef LOCALDATA_LINUX_H
#define LOCALDATA_LINUX_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* Swift builds its Glibc module without _GNU_SOURCE. Defining it here would give `fd_set` a second layout, which the
 * compiler refuses; so what is hidden behind it is declared (repeating a declaration is legal C) or called by number.
 */
extern long syscall(long number, ...);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern char *secure_getenv(const char *name);
extern const char *sigabbrev_np(int signal);
extern const char *strerrordesc_np(int code);
extern const char *strerrorname_np(int code);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int syncfs(int file);
extern int on_exit(void (*function)(int status, void *argument), void *argument);
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline);

/* ---------------------------------------------------------------- linked plugins --------------------------------- */

extern const void *localdata_linked_v1(void) __attribute__((weak));

/* The table of the components that are linked into this program; null if none are. */
static inline const void *ld_linux_linked_plugin(void) {
    return localdata_linked_v1 ? localdata_linked_v1() : NULL;
}

/* ---------------------------------------------------------------- threads --------------------------------------- */

/* Names the calling thread, at most 15 bytes, for debuggers and /proc. */
static inline void ld_linux_name_thread(const char *name) {
    (void)pthread_setname_np(pthread_self(), name);
}

/* sem_clockwait(3) on CLOCK_MONOTONIC: 0, or -1 with errno. */
static inline int ld_linux_sem_wait_until(sem_t *semaphore, const struct timespec *deadline) {
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, deadline);
}

/* ---------------------------------------------------------------- processes ------------------------------------- */

/* pipe2(2): -1 and errno on failure. */
static inline int ld_linux_pipe2(int ends[2], int flags) {
    return (int)syscall(SYS_pipe2, ends, flags);
}

/* pidfd_open(2): a descriptor, closed on exec, that is readable once the process has ended; -1 and errno on failure
 * (ENOSYS before Linux 5.3). */
static inline int ld_linux_pidfd_open(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* memfd_create(2), closed on exec and not executable where the kernel knows that flag (Linux 6.3); -1 and errno on
 * failure. */
static inline int ld_linux_memfd(const char *name) {
    enum { close_on_exec = 1, no_exec_seal = 8 };
    int descriptor = (int)syscall(SYS_memfd_create, name, close_on_exec | no_exec_seal);
    if (descriptor < 0 && errno == EINVAL) {
        descriptor = (int)syscall(SYS_memfd_create, name, close_on_exec);
    }
    return descriptor;
}

/* In the child, closes every descriptor from `from` on; an error number on failure. Needs glibc 2.34. */
static inline int ld_linux_spawn_close_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

/* PR_SET_DUMPABLE of prctl(2): no core dumps, and no other process of the same user may look into this one. */
static inline void ld_linux_forbid_dumps(void) {
    syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* AT_SECURE of getauxval(3): whether the kernel runs this program with more rights than its caller has: set-user-ID,
 * set-group-ID, file capabilities or a security module. Reads no file, so it also works in a process that forbade dumps
 * or has no /proc. */
static inline int32_t ld_linux_is_elevated(void) {
    return getauxval(AT_SECURE) != 0;
}

/* on_exit(3): `function` is called with the status when the process ends by exit(3); 0, or another number on failure.
 */
static inline int ld_linux_on_exit(void (*function)(int status, void *argument)) {
    return on_exit(function, NULL);
}

/* PR_SET_CHILD_SUBREAPER of prctl(2): processes below this one whose parents end become its children. */
static inline void ld_linux_adopt_orphans(void) {
    syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* PR_SET_PDEATHSIG of prctl(2): this process is killed when the thread ends that made it. */
static inline void ld_linux_end_with_parent(void) {
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* makedev(3): the number that stat(2) has for a device. */
static inline uint64_t ld_linux_device(uint32_t major_number, uint32_t minor_number) {
    return makedev(major_number, minor_number);
}

/* fork(2), which Swift does not offer: for a process with one thread. */
static inline pid_t ld_linux_fork(void) {
    return fork();
}

/* From here on, this process and all that it starts can send no signal to another process, trace it, or change its
 * limits: by seccomp(2) and, where the kernel has it (6.12), by the scope of a Landlock domain (landlock(7)).
 * abort(3) and raise(3) work. Where the kernel refuses a filter, nothing happens. */
static inline void ld_linux_forbid_signals(void) {
#if defined(__x86_64__) || defined(__aarch64__)
#if defined(__x86_64__)
    enum { architecture = AUDIT_ARCH_X86_64 };
#else
    enum { architecture = AUDIT_ARCH_AARCH64 };
#endif
#define LD_LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)__builtin_offsetof(struct seccomp_data, member))
#define LD_ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define LD_REFUSE LD_ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define LD_ALLOW LD_ANSWER(SECCOMP_RET_ALLOW)
#define LD_IF(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, 1)
#define LD_REFUSED(number) LD_IF(number), LD_REFUSE
/* Allowed for a process number of 0, if that means this process, and for its own. */
#define LD_OWN(number, zero)                                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(number), 0, 6), LD_LOAD(args[0]), LD_IF(own), LD_ALLOW, LD_IF(zero), \
        LD_ALLOW, LD_REFUSE
#define LD_ARGUMENT(number, first, second)                                                                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(number), 0, 6), LD_LOAD(args[1]), LD_REFUSED(first),                 \
        LD_REFUSED(second), LD_ALLOW
    const uint32_t own = (uint32_t)getpid();
    struct sock_filter filter[] = {
        LD_LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0), LD_REFUSE,
        LD_LOAD(nr),
        /* The x32 ABI's numbers. */
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), LD_REFUSE,
        LD_REFUSED(SYS_pidfd_send_signal), LD_REFUSED(SYS_ptrace), LD_REFUSED(SYS_process_vm_writev),
        LD_REFUSED(SYS_process_vm_readv), LD_REFUSED(438 /* pidfd_getfd */), LD_REFUSED(440 /* process_madvise */),
        LD_REFUSED(448 /* process_mrelease */),
        LD_OWN(SYS_kill, own), LD_OWN(SYS_tgkill, own), LD_OWN(SYS_tkill, own), LD_OWN(SYS_rt_sigqueueinfo, own),
        LD_OWN(SYS_rt_tgsigqueueinfo, own), LD_OWN(SYS_prlimit64, 0),
        LD_ARGUMENT(SYS_fcntl, 8 /* F_SETOWN */, 15 /* F_SETOWN_EX */),
        LD_ARGUMENT(SYS_ioctl, 0x8901 /* FIOSETOWN */, 0x8902 /* SIOCSPGRP */),
        LD_ALLOW,
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
    /* SYS_landlock_create_ruleset and SYS_landlock_restrict_self, with LANDLOCK_SCOPE_SIGNAL alone. */
    struct {
        uint64_t files, network, scope;
    } rules = {0, 0, 2};
    int ruleset = (int)syscall(444, &rules, sizeof rules, 0);
    if (ruleset >= 0) {
        syscall(446, ruleset, 0);
        close(ruleset);
    }
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
#undef LD_LOAD
#undef LD_ANSWER
#undef LD_REFUSE
#undef LD_ALLOW
#undef LD_IF
#undef LD_REFUSED
#undef LD_OWN
#undef LD_ARGUMENT
#endif
}

/* Zeroes the vector registers, in which copying and ciphers leave the last bytes that they worked on. The dynamic
 * linker saves them on the stack when a function is called for the first time, and nothing overwrites them there. */
#if defined(__x86_64__)
__attribute__((noinline, target("avx512f"))) static inline void ld_linux_zero_avx512(void) {
    __asm__ volatile("vzeroall\n"
                     "vpxorq %%zmm16, %%zmm16, %%zmm16\n vpxorq %%zmm17, %%zmm17, %%zmm17\n"
                     "vpxorq %%zmm18, %%zmm18, %%zmm18\n vpxorq %%zmm19, %%zmm19, %%zmm19\n"
                     "vpxorq %%zmm20, %%zmm20, %%zmm20\n vpxorq %%zmm21, %%zmm21, %%zmm21\n"
                     "vpxorq %%zmm22, %%zmm22, %%zmm22\n vpxorq %%zmm23, %%zmm23, %%zmm23\n"
                     "vpxorq %%zmm24, %%zmm24, %%zmm24\n vpxorq %%zmm25, %%zmm25, %%zmm25\n"
                     "vpxorq %%zmm26, %%zmm26, %%zmm26\n vpxorq %%zmm27, %%zmm27, %%zmm27\n"
                     "vpxorq %%zmm28, %%zmm28, %%zmm28\n vpxorq %%zmm29, %%zmm29, %%zmm29\n"
                     "vpxorq %%zmm30, %%zmm30, %%zmm30\n vpxorq %%zmm31, %%zmm31, %%zmm31\n" ::
                         : "memory");
}
__attribute__((noinline, target("avx"))) static inline void ld_linux_zero_avx(void) {
    __asm__ volatile("vzeroall" ::: "memory");
}
__attribute__((noinline)) static inline void ld_linux_zero_sse(void) {
    __asm__ volatile("pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
                     "pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n"
                     "pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n"
                     "pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n pxor %%xmm14, %%xmm14\n"
                     "pxor %%xmm15, %%xmm15\n" ::
                         : "memory");
}
/* Calls leave these registers to their caller to save, so zeroing them in a function changes nothing for it. */
static inline void ld_linux_clear_registers(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) {
        ld_linux_zero_avx512();
    } else if (__builtin_cpu_supports("avx")) {
        ld_linux_zero_avx();
    } else {
        ld_linux_zero_sse();
    }
}
#else
static inline void ld_linux_clear_registers(void) {}
#endif

/* Overwrites the 32 KiB of the stack below its caller: what functions that have returned left there. */
__attribute__((noinline)) static inline void ld_linux_clear_stack(void) {
    unsigned char space[32 << 10];
    memset(space, 0, sizeof space);
    /* Nobody reads it; without this the compiler would leave it out. */
    __asm__ volatile("" : : "r"(space) : "memory");
}

/* The signal's name without SIG, "ABRT", or null if it has none. Needs glibc 2.32. */
static inline const char *ld_linux_signal_name(int signal) {
    return sigabbrev_np(signal);
}

/* ---------------------------------------------------------------- files ----------------------------------------- */

/* The untranslated text and the symbol of an error number, or NULL: "No space left on device", "ENOSPC". */
static inline const char *ld_linux_error_text(int32_t code) {
    return strerrordesc_np(code);
}

static inline const char *ld_linux_error_symbol(int32_t code) {
    return strerrorname_np(code);
}

/* dup3(2): the file that `file` stands for is put behind the open descriptor `place`, at once for all threads. */
static inline int32_t ld_linux_put_in_place(int32_t file, int32_t place, int32_t flags) {
    return (int32_t)syscall(SYS_dup3, file, place, flags);
}

/* renameat2(2) with RENAME_NOREPLACE: 0, or -1 with errno: EEXIST if the new name is taken; EINVAL or ENOSYS where
 * the file system or the kernel does not know it. */
static inline int32_t ld_linux_rename_new(const char *from, const char *to) {
    enum { current_folder = -100, no_replace = 1 };
    return (int32_t)syscall(SYS_renameat2, current_folder, from, current_folder, to, no_replace);
}

/* openat2(2), closed on exec: opens what a relative path leads to and follows no symbolic link, in the middle of it
 * neither, nor leaves `folder`. With AT_FDCWD the path is absolute. -1 and errno: ELOOP for a symbolic link; ENOSYS
 * before Linux 5.6, EPERM where a sandbox forbids the call. */
static inline int32_t ld_linux_open_without_links(int32_t folder, const char *path, int32_t flags) {
    enum { current_folder = -100, no_magic_links = 0x02, no_symbolic_links = 0x04, beneath = 0x08 };
    struct { uint64_t flags, mode, resolve; } how = {
        .flags = (uint32_t)flags,
        .mode = 0,
        .resolve = no_magic_links | no_symbolic_links | (folder == current_folder ? 0 : beneath),
    };
    return (int32_t)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/* The magic number of the file system of an open file, see statfs(2); 0 if it does not tell. */
static inline uint32_t ld_linux_file_system(int32_t file) {
    struct statfs status;
    return fstatfs(file, &status) == 0 ? (uint32_t)status.f_type : 0;
}

/* syncfs(2): what was written to the file system is on the disk; -1 and errno if anything written since `file` was
 * opened is not (since Linux 5.8). */
static inline int32_t ld_linux_syncfs(int32_t file) {
    return syncfs(file);
}

/* fallocate(2) with FALLOC_FL_KEEP_SIZE: blocks for a part of the file, which may be behind its end; -1 and errno on
 * failure. */
static inline int32_t ld_linux_reserve(int32_t file, off_t from, off_t count) {
    enum { keep_size = 1 };
    return (int32_t)syscall(SYS_fallocate, file, keep_size, from, count);
}

/* xattr(7). */
static inline int32_t ld_linux_set_attribute(int32_t file, const char *name, const void *value, size_t size) {
    return fsetxattr(file, name, value, size, 0);
}

static inline ssize_t ld_linux_get_attribute(int32_t file, const char *name, void *value, size_t size) {
    return fgetxattr(file, name, value, size);
}

/* The leak sanitizer, in a program that has it. */
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

/* Whether the leak sanitizer leaves out what this thread allocates from now on; calls with 1 and with 0 come in
 * pairs. */
static inline void ld_linux_ignore_leaks(int32_t ignores) {
    if (ignores && __lsan_disable) __lsan_disable();
    if (!ignores && __lsan_enable) __lsan_enable();
}

#endif
