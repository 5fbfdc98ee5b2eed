// Starts worker processes and confines them: calls of the system that Swift cannot import, or that must come before any
// other thread. Each function that a system other than Linux lacks returns ENOSYS there.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A program to start.
struct hearth_program {
    const char *path;
    char *const *arguments;    ///< Ends with NULL; the first is the program's name.
    char *const *environment;  ///< Ends with NULL.
    const int *descriptors;    ///< The program gets them as 3, 4, and so on.
    size_t descriptor_count;
    int error_descriptor;  ///< The program's standard error.
};

/// Starts a program in a session of its own, with no other open descriptor, no blocked signal and no handled or ignored one.
/// Input and output are /dev/null. Returns 0, or a value of errno.
int hearth_process_start(const struct hearth_program *program, pid_t *process);

/// A descriptor that becomes readable when the process ends; -1 where the system has none.
int hearth_process_watch(pid_t process);

#ifdef __cplusplus
}
#endif
