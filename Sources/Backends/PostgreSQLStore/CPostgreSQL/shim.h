#include <libpq-fe.h>
#include <sys/eventfd.h>

/* glibc's, which its headers show to GNU sources only. */
extern char *secure_getenv(const char *name);

/* Takes a notice as it comes: libpq would print it to standard error, which belongs to the program. */
static inline void ld_postgresql_ignore(void *context, const char *message) {
    (void)context;
    (void)message;
}

static inline void ld_postgresql_silence(PGconn *connection) {
    PQsetNoticeProcessor(connection, ld_postgresql_ignore, NULL);
}

/* A descriptor that becomes readable when somebody writes to it; see eventfd(2). */
static inline int ld_postgresql_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
