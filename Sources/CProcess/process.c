#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

enum { first_descriptor = 3 };

/// Plans the program's descriptors. The given ones are copied first to numbers that no plan overwrites.
static int plan_descriptors(
    const struct hearth_program *program, const int *copies, posix_spawn_file_actions_t *actions) {
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    for (size_t index = 0; error == 0 && index < program->descriptor_count; index++) {
        error = posix_spawn_file_actions_adddup2(actions, copies[index], first_descriptor + (int)index);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(actions, copies[program->descriptor_count], STDERR_FILENO);
    }
#if defined(__linux__)
    if (error == 0) {
        error = posix_spawn_file_actions_addclosefrom_np(actions, first_descriptor + (int)program->descriptor_count);
    }
#endif
    return error;
}

static int plan_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
#if defined(__APPLE__)
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0) error = posix_spawnattr_setflags(attributes, flags);
    return error;
}

static int start(const struct hearth_program *program, const int *copies, pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = plan_descriptors(program, copies, &actions);
        if (error == 0) error = plan_attributes(&attributes);
        if (error == 0) {
            error = posix_spawn(
                process, program->path, &actions, &attributes, program->arguments, program->environment);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int hearth_process_start(const struct hearth_program *program, pid_t *process) {
    size_t count = program->descriptor_count + 1;
    int *copies = malloc(count * sizeof *copies);
    if (copies == NULL) return ENOMEM;
    int error = 0;
    size_t copied = 0;
    while (error == 0 && copied < count) {
        int descriptor =
            copied < program->descriptor_count ? program->descriptors[copied] : program->error_descriptor;
        int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, first_descriptor + (int)count);
        if (copy < 0) {
            error = errno;
        } else {
            copies[copied++] = copy;
        }
    }
    if (error == 0) error = start(program, copies, process);
    while (copied > 0) close(copies[--copied]);
    free(copies);
    return error;
}

int hearth_process_pipe(int descriptors[2]) {
#if defined(__linux__)
    return pipe2(descriptors, O_CLOEXEC) == 0 ? 0 : errno;
#else
    if (pipe(descriptors) != 0) return errno;
    for (int index = 0; index < 2; index++) fcntl(descriptors[index], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

int hearth_process_watch(pid_t process) {
#if defined(__linux__) && defined(SYS_pidfd_open)
    return (int)syscall(SYS_pidfd_open, process, 0);
#else
    (void)process;
    errno = ENOSYS;
    return -1;
#endif
}
