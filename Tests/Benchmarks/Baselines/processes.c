/*
 * Runs two commands in turn as whole processes and compares their times, from before fork to the end:
 *
 *     processes ROUNDS COMMAND... -- COMMAND...
 *
 * Prints the median microseconds of both and the median of the rounds' ratios. A command has to end with status 0 and
 * to print something.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static _Noreturn void fail(const char *what, const char *command) {
    fprintf(stderr, "error: %s: %s\n", command, what);
    exit(1);
}

static double microseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double run(char **command) {
    int ends[2];
    if (pipe(ends) != 0) fail("no pipe", command[0]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    pid_t child;
    const double start = microseconds();
    if (posix_spawnp(&child, command[0], &actions, NULL, command, environ) != 0) fail("cannot be started", command[0]);
    close(ends[1]);
    char buffer[4096];
    ssize_t count, total = 0;
    while ((count = read(ends[0], buffer, sizeof(buffer))) > 0) total += count;
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("did not end with status 0", command[0]);
    }
    const double end = microseconds();
    if (total == 0) fail("printed nothing", command[0]);
    close(ends[0]);
    posix_spawn_file_actions_destroy(&actions);
    return end - start;
}

static int compare(const void *left, const void *right) {
    const double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof(double), compare);
    return values[count / 2];
}

int main(int argc, char **argv) {
    int split = 2;
    while (split < argc && strcmp(argv[split], "--") != 0) split++;
    if (split < 3 || split >= argc - 1) fail("usage: processes ROUNDS COMMAND... -- COMMAND...", "processes");
    const int rounds = atoi(argv[1]);
    argv[split] = NULL;
    char **commands[2] = {argv + 2, argv + split + 1};
    double *times[2] = {calloc((size_t)rounds, sizeof(double)), calloc((size_t)rounds, sizeof(double))};
    double *ratios = calloc((size_t)rounds, sizeof(double));
    if (rounds < 1 || times[0] == NULL || times[1] == NULL || ratios == NULL) fail("no rounds", argv[1]);
    for (int i = 0; i < 3; i++) run(commands[0]), run(commands[1]);
    for (int i = 0; i < rounds; i++) {
        const int first = i % 2;
        times[first][i] = run(commands[first]);
        times[!first][i] = run(commands[!first]);
        ratios[i] = times[0][i] / times[1][i];
    }
    printf("%.0f %.0f %.2f\n", median(times[0], rounds), median(times[1], rounds), median(ratios, rounds));
    return 0;
}
