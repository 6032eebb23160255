#include <nats/nats.h>
#include <sys/eventfd.h>

/* A descriptor that becomes readable when somebody writes to it; see eventfd(2). */
static inline int ld_nats_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
