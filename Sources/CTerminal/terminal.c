#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// `changing` while what is kept is written; what was given back once stays so, for the process is about to end.
enum state { nothing_kept, changing, kept, given_back };

static _Atomic int state = nothing_kept;

// Read by handlers, and written only while the state is `changing`.
static struct termios attributes_before;
static char leaving[HEARTH_TERMINAL_SEQUENCE_LIMIT];
static size_t leaving_length;
static int input_descriptor = -1;
/// The terminal once more, so that writing to it never waits; -1 where it cannot be opened.
static int writing_descriptor = -1;

static const int fatal_signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGQUIT, SIGSYS, SIGXCPU, SIGXFSZ};
enum { fatal_count = sizeof fatal_signals / sizeof fatal_signals[0] };
static struct sigaction handled_before[fatal_count];

/// So often a terminal that takes nothing is asked again, and so many milliseconds lie in between. From the middle on what others
/// have written and the terminal has not read is thrown away: one of them may hold the terminal until it is.
enum { attempts = 100, pause_milliseconds = 5 };

static void write_leaving(void) {
    const char *rest = leaving;
    size_t left = leaving_length;
    int failures = 0;
    while (writing_descriptor >= 0 && left > 0 && failures < attempts) {
        ssize_t count = write(writing_descriptor, rest, left);
        if (count > 0) {
            rest += count;
            left -= (size_t)count;
        } else if (count < 0 && errno == EAGAIN) {
            failures++;
            if (failures > attempts / 2) {
                tcflush(writing_descriptor, TCOFLUSH);
                // Only going on after a stop wakes those who wait for room, in Linux.
                tcflow(writing_descriptor, TCOOFF);
                tcflow(writing_descriptor, TCOON);
            }
            poll(NULL, 0, pause_milliseconds);
        } else if (count == 0 || errno != EINTR) {
            return;
        }
    }
}

void hearth_terminal_give_back(void) {
    int expected = kept;
    if (!atomic_compare_exchange_strong(&state, &expected, given_back)) return;
    // In the background it is the shell's, which has given it the attributes that it likes.
    pid_t foreground = tcgetpgrp(input_descriptor);
    if (foreground >= 0 && foreground != getpgrp()) return;
    // Who comes to the background right now is not to be stopped for it.
    sigset_t stopping, before;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stopping, &before);
    while (tcsetattr(input_descriptor, TCSANOW, &attributes_before) != 0 && errno == EINTR) continue;
    write_leaving();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_fatally(int number, siginfo_t *information, void *context) {
    (void)context;
    int error = errno;
    hearth_terminal_give_back();
    for (int index = 0; index < fatal_count; index++) {
        if (fatal_signals[index] == number) sigaction(number, &handled_before[index], NULL);
    }
    errno = error;
    // What the processor has objected to it meets again after this, with all that is known of it. Anything else comes once.
    bool comes_again = information->si_code > 0
        && (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
    // Blocked until the handler has returned, to where the program was.
    if (!comes_again) raise(number);
}

static void handle_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = end_fatally;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigfillset(&action.sa_mask);
    for (int index = 0; index < fatal_count; index++) {
        sigaction(fatal_signals[index], NULL, &handled_before[index]);
        bool is_ignored =
            !(handled_before[index].sa_flags & SA_SIGINFO) && handled_before[index].sa_handler == SIG_IGN;
        if (!is_ignored) sigaction(fatal_signals[index], &action, NULL);
    }
}

static void leave_signals(void) {
    for (int index = 0; index < fatal_count; index++) {
        struct sigaction now;
        sigaction(fatal_signals[index], NULL, &now);
        // A handler installed since stays.
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == end_fatally) {
            sigaction(fatal_signals[index], &handled_before[index], NULL);
        }
    }
}

/// The terminal of a descriptor, opened anew: the mode of the one that is there is shared with other programs.
static int open_again(int descriptor) {
    char name[256];
    struct stat there, found;
    if (ttyname_r(descriptor, name, sizeof name) != 0 || fstat(descriptor, &there) != 0) return -1;
    int opened = open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (opened < 0) return -1;
    if (fstat(opened, &found) == 0 && S_ISCHR(found.st_mode) && found.st_rdev == there.st_rdev) return opened;
    close(opened);
    return -1;
}

bool hearth_terminal_keep(
    int input, int output, const struct termios *attributes, const char *sequence, size_t length) {
    if (length > sizeof leaving) return false;
    int expected = nothing_kept;
    if (!atomic_compare_exchange_strong(&state, &expected, changing)) return false;
    attributes_before = *attributes;
    memcpy(leaving, sequence, length);
    leaving_length = length;
    input_descriptor = input;
    writing_descriptor = open_again(output);
    handle_signals();
    atomic_store(&state, kept);
    return true;
}

void hearth_terminal_forget(void) {
    int expected = kept;
    if (!atomic_compare_exchange_strong(&state, &expected, changing)) return;
    leave_signals();
    if (writing_descriptor >= 0) close(writing_descriptor);
    writing_descriptor = -1;
    atomic_store(&state, nothing_kept);
}
