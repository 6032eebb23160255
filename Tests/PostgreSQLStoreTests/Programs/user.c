/* Preloaded into PostgreSQL's programs: gives the user that they run as an entry in the user database. */
#include <pwd.h>
#include <stddef.h>
#include <unistd.h>

int getpwuid_r(uid_t user, struct passwd *entry, char *buffer, size_t size, struct passwd **result) {
    static char name[] = "tests", none[] = "", home[] = "/nonexistent", shell[] = "/bin/sh";
    (void)buffer, (void)size;
    *result = NULL;
    if (user != geteuid()) return 0;
    *entry = (struct passwd){
        .pw_name = name, .pw_passwd = none, .pw_uid = user, .pw_gid = getegid(), .pw_gecos = none, .pw_dir = home,
        .pw_shell = shell};
    *result = entry;
    return 0;
}

struct passwd *getpwuid(uid_t user) {
    static struct passwd entry;
    struct passwd *result;
    getpwuid_r(user, &entry, NULL, 0, &result);
    return result;
}
