#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#else
#define POLLRDHUP 0
#endif

#if defined(__linux__)
/// Lets the kernel end this process before others when memory is short. A refusal changes nothing else.
static void set_oom_score(int score) {
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    char text[16];
    int length = snprintf(text, sizeof text, "%d", score);
    // Raising the score is allowed to every process.
    if (write(file, text, (size_t)length) != length) errno = 0;
    close(file);
}
#endif

int hearth_limit(const struct hearth_limits *limits) {
#if defined(__linux__)
    // Before the process becomes undumpable, which makes its files below /proc the superuser's.
    set_oom_score(limits->oom_score);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    // With the thread that started it, also while this process is stopped, when no thread of it can see the hang-up.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
#endif
    if (!limits->dumps_core) {
        struct rlimit none = {0, 0};
        if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
#if defined(__linux__)
        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
#endif
    }
    if (limits->data_bytes > 0) {
        struct rlimit data;
        if (getrlimit(RLIMIT_DATA, &data) != 0) return errno;
        // A lower limit set from outside stays.
        if (data.rlim_max == RLIM_INFINITY || limits->data_bytes < data.rlim_max) {
            data.rlim_cur = data.rlim_max = (rlim_t)limits->data_bytes;
            if (setrlimit(RLIMIT_DATA, &data) != 0) return errno;
        }
    }
    return 0;
}

/// Ends the process when the descriptor has hung up.
static void *watch(void *argument) {
    struct pollfd watched = {.fd = (int)(intptr_t)argument, .events = POLLRDHUP};
    while (true) {
        int count = poll(&watched, 1, -1);
        if (count > 0 && (watched.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))) _exit(0);
        if (count < 0 && errno != EINTR && errno != EAGAIN) _exit(0);
    }
    return NULL;
}

int hearth_end_with_peer(int descriptor) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    if (error != 0) return error;
    size_t stack = 1 << 16;
    if (stack < (size_t)PTHREAD_STACK_MIN) stack = (size_t)PTHREAD_STACK_MIN;
    pthread_attr_setstacksize(&attributes, stack);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The thread handles no signal of the process.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, watch, (void *)(intptr_t)descriptor);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}
