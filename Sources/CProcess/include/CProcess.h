// Calls of the system that Swift cannot import: names of threads, and the start and confinement of worker processes.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The longest name of a thread with its end, in bytes.
enum { HEARTH_THREAD_NAME_LIMIT = 16 };

/// Names the calling thread, without a file of /proc, which confined processes may not open. A longer name is cut.
void hearth_thread_set_name(const char *name);

/// The flag of open(2) for files that are read past the page cache (O_DIRECT, whose value depends on the processor); 0 where the
/// system has none.
int hearth_file_direct_flag(void);

/// Reads the name of the calling thread.
void hearth_thread_name(char name[HEARTH_THREAD_NAME_LIMIT]);

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

/// Makes a pipe that no started program inherits: its reading and its writing end. Returns 0, or a value of errno.
int hearth_process_pipe(int descriptors[2]);

/// A descriptor that becomes readable when the process ends; -1 where the system has none.
int hearth_process_watch(pid_t process);

/// Limits of a worker, which it sets itself when it starts.
struct hearth_limits {
    uint64_t data_bytes;  ///< Private writable memory (RLIMIT_DATA); 0 for no limit.
    int oom_score;        ///< How early the kernel ends the process when memory is short, up to 1000.
    bool dumps_core;      ///< Otherwise no core file is written, and other processes cannot read this one's memory.
};

/// Limits the calling process for good, and denies it new privileges. Returns 0, or a value of errno.
int hearth_limit(const struct hearth_limits *limits);

/// Starts a thread that ends the process as soon as the other side of a socket is closed, no matter what the other threads do.
/// Call it after hearth_confine, which reaches no thread started before. Returns 0, or a value of errno.
int hearth_end_with_peer(int descriptor);

/// What a confined process may open. Files that are open already stay so.
struct hearth_confinement {
    char *const *readable;  ///< Files, and folders with all that is below them.
    size_t readable_count;
    const int *descriptors;  ///< Readable files and folders, opened at least with O_PATH. They stay the caller's.
    size_t descriptor_count;
    char *const *writable;  ///< Folders in which files are also written, made and removed.
    size_t writable_count;
    char *const *devices;  ///< Devices, and folders of them, that are read, written and controlled, such as /dev/dri.
    size_t device_count;
};

/// What a confined process cannot do.
enum hearth_confined {
    HEARTH_CONFINED_FILES = 1 << 0,    ///< Open other files.
    HEARTH_CONFINED_NETWORK = 1 << 1,  ///< Connect over TCP, by a rule about files and networks (Landlock).
    HEARTH_CONFINED_SIGNALS = 1 << 2,  ///< Reach other processes by signals and abstract sockets (Landlock).
    HEARTH_CONFINED_CALLS = 1 << 3,    ///< Use sockets, processes and most other system calls (seccomp).
};

/// Confines the process for good. Call it in `main` before any other thread: rules about files reach no thread started before.
/// Returns the bits of enum hearth_confined that hold.
int hearth_confine(const struct hearth_confinement *confinement);

/// The version of the kernel's rules about files (Landlock); 0 for none.
int hearth_confinement_files(void);

/// Whether the kernel filters system calls (seccomp).
bool hearth_confinement_calls(void);

#ifdef __cplusplus
}
#endif
