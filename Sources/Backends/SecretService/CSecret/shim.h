/* The calls by D-Bus paths and of encoded secrets are marked unstable by the header; libsecret's library exports them
 * since 0.18.1 and has kept them. */
#define SECRET_API_SUBJECT_TO_CHANGE
#define SECRET_WITH_UNSTABLE

#include <gio/gio.h>
#include <libsecret/secret.h>
#include <signal.h>

/* glibc's, which its headers show to GNU sources only. */
extern char *secure_getenv(const char *name);

/* Loads the class that GLib's sockets are of. That ignores SIGPIPE for the whole process, which is not a plugin's to
 * decide; GLib writes with MSG_NOSIGNAL, and needs no such thing. */
static inline void ld_secret_load_sockets(void) {
    struct sigaction action;
    const int known = sigaction(SIGPIPE, NULL, &action);
    g_type_class_ref(g_socket_get_type());
    if (known == 0) sigaction(SIGPIPE, &action, NULL);
}

/* libsecret makes a service on the connection that GLib shares within the process, whatever it is told: its
 * constructor says so last. That connection ends the process when the bus ends. So there is a class of ours whose
 * constructor speaks after it. Nothing is loaded and nothing watched: the service only keeps the session. */
static inline GObject *ld_secret_construct(GType type, guint count, GObjectConstructParam *properties) {
    GObjectClass *libsecret = G_OBJECT_CLASS(g_type_class_peek(secret_service_get_type()));
    GObject *object = libsecret->constructor(type, count, properties);
    const GDBusProxyFlags flags = G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS
        | G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START_AT_CONSTRUCTION;
    g_object_set(
        object, "g-bus-type", G_BUS_TYPE_NONE, "g-flags", flags, "g-name", "org.freedesktop.secrets", NULL);
    return object;
}

static inline void ld_secret_class_init(gpointer type, gpointer data) {
    (void)data;
    G_OBJECT_CLASS(type)->constructor = ld_secret_construct;
}

/* The class; called by one thread first. Another copy of this plugin in the process may have made it. */
static inline GType ld_secret_service_type(void) {
    const char *name = "LocalDataSecretService";
    const GType known = g_type_from_name(name);
    if (known != 0) return known;
    return g_type_register_static_simple(
        secret_service_get_type(), name, sizeof(SecretServiceClass), ld_secret_class_init, sizeof(SecretService), NULL,
        (GTypeFlags)0);
}

/* A service on a connection of the caller's. */
static inline SecretService *ld_secret_service(GDBusConnection *connection, GCancellable *cancellable, GError **error) {
    return (SecretService *)g_initable_new(
        ld_secret_service_type(), cancellable, error, "g-connection", connection, NULL);
}
