// Processes, signals and facts of the system: sys/sysctl.h, signal.h, sys/resource.h, spawn.h, stdlib.h, sys/mman.h, os/proc.h.
#pragma once

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGABRT 6
#define SIGKILL 9
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTOP 17
#define SIGTSTP 18
#define SIGCONT 19
#define SIGCHLD 20
#define SIGWINCH 28
#define SIGUSR1 30
#define SIGUSR2 31
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
#define SA_RESTART 2
#define NSIG 32
typedef uint32_t sigset_t;
typedef struct { int si_signo, si_errno, si_code; pid_t si_pid; uid_t si_uid; int si_status; void *_Nullable si_addr; } siginfo_t;
union __sigaction_u {
    void (*_Null_unspecified __sa_handler)(int);
    void (*_Null_unspecified __sa_sigaction)(int, siginfo_t *_Nullable, void *_Nullable);
};
struct sigaction { union __sigaction_u __sigaction_u; sigset_t sa_mask; int sa_flags; };
#define sa_handler __sigaction_u.__sa_handler
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
void (*_Null_unspecified signal(int, void (*_Null_unspecified)(int)))(int);
int sigaction(int, const struct sigaction *_Nullable, struct sigaction *_Nullable);
int sigemptyset(sigset_t *_Nonnull);
int sigfillset(sigset_t *_Nonnull);
int sigaddset(sigset_t *_Nonnull, int);
int sigprocmask(int, const sigset_t *_Nullable, sigset_t *_Nullable);
int pthread_sigmask(int, const sigset_t *_Nullable, sigset_t *_Nullable);
int kill(pid_t, int);
int raise(int);
pid_t getpid(void);
pid_t getppid(void);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
pid_t fork(void);
pid_t setsid(void);
pid_t waitpid(pid_t, int *_Nullable, int);
#define WNOHANG 1
#define WEXITED 4
#define WNOWAIT 0x20
typedef enum { P_ALL, P_PID, P_PGID } idtype_t;
int waitid(idtype_t, id_t, siginfo_t *_Nonnull, int);
#define WIFEXITED(status) (((status) & 0177) == 0)
#define WEXITSTATUS(status) (((status) >> 8) & 0xff)
int execve(const char *_Nonnull, char *const _Nullable *_Nullable, char *const _Nullable *_Nullable);
_Noreturn void exit(int);
_Noreturn void _exit(int);
_Noreturn void abort(void);
int atexit(void (*_Nonnull)(void));
char *_Nullable getenv(const char *_Nonnull);
int setenv(const char *_Nonnull, const char *_Nonnull, int);
int unsetenv(const char *_Nonnull);
int system(const char *_Nonnull) __attribute__((availability(ios, unavailable)));
struct utsname { char sysname[256], nodename[256], release[256], version[256], machine[256]; };
int uname(struct utsname *_Nonnull);
int gethostname(char *_Nonnull, size_t);
uint32_t arc4random(void);
void arc4random_buf(void *_Nonnull, size_t);
int getentropy(void *_Nonnull, size_t);
void *_Nullable dlopen(const char *_Nullable, int);
void *_Nullable dlsym(void *_Nullable, const char *_Nonnull);
int dlclose(void *_Nonnull);
char *_Nullable dlerror(void);
#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_LOCAL 4
#define RTLD_GLOBAL 8

typedef void *posix_spawnattr_t;
typedef void *posix_spawn_file_actions_t;
#define POSIX_SPAWN_SETSIGDEF 0x0004
#define POSIX_SPAWN_SETSIGMASK 0x0008
#define POSIX_SPAWN_SETSID 0x0400
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000
int posix_spawn(pid_t *_Nullable, const char *_Nonnull, const posix_spawn_file_actions_t _Nullable *_Nullable,
    const posix_spawnattr_t _Nullable *_Nullable, char *const _Nullable *_Nonnull, char *const _Nullable *_Nullable);
int posix_spawnattr_init(posix_spawnattr_t _Nullable *_Nonnull);
int posix_spawnattr_destroy(posix_spawnattr_t _Nullable *_Nonnull);
int posix_spawnattr_setflags(posix_spawnattr_t _Nullable *_Nonnull, short);
int posix_spawnattr_setsigdefault(posix_spawnattr_t _Nullable *_Nonnull, const sigset_t *_Nonnull);
int posix_spawnattr_setsigmask(posix_spawnattr_t _Nullable *_Nonnull, const sigset_t *_Nonnull);
int posix_spawn_file_actions_init(posix_spawn_file_actions_t _Nullable *_Nonnull);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t _Nullable *_Nonnull);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t _Nullable *_Nonnull, int, int);
int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t _Nullable *_Nonnull, int);
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t _Nullable *_Nonnull, int, const char *_Nonnull, int, mode_t);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t _Nullable *_Nonnull, const char *_Nonnull)
    __attribute__((availability(ios, unavailable)));

// developer.apple.com/documentation/kernel/1387446-sysctlbyname
int sysctl(int *_Nonnull, u_int, void *_Nullable, size_t *_Nullable, void *_Nullable, size_t);
int sysctlbyname(const char *_Nonnull, void *_Nullable, size_t *_Nullable, void *_Nullable, size_t);
#define CTL_KERN 1
#define CTL_HW 6
#define KERN_PROC 14
#define KERN_PROC_PID 1
#define SZOMB 5
#define KERN_BOOTTIME 21
#define HW_MEMSIZE 24
struct extern_proc { struct { struct timeval __p_starttime; } p_un; int p_flag; char p_stat; pid_t p_pid; char p_comm[17]; };
#define p_starttime p_un.__p_starttime
struct eproc { pid_t e_ppid, e_pgid; };
struct kinfo_proc { struct extern_proc kp_proc; struct eproc kp_eproc; };

typedef uint64_t rlim_t;
struct rlimit { rlim_t rlim_cur, rlim_max; };
struct rusage {
    struct timeval ru_utime, ru_stime;
    long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock, ru_msgsnd, ru_msgrcv,
        ru_nsignals, ru_nvcsw, ru_nivcsw;
};
#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN -1
#define RLIMIT_DATA 2
#define RLIMIT_CORE 4
#define RLIMIT_NOFILE 8
int getrusage(int, struct rusage *_Nonnull);
int getrlimit(int, struct rlimit *_Nonnull);
int setrlimit(int, const struct rlimit *_Nonnull);
double getloadavg(double *_Nonnull, int);

// developer.apple.com/documentation/os/3191911-os_proc_available_memory
size_t os_proc_available_memory(void) __attribute__((availability(macos, unavailable)))
    __attribute__((availability(ios, introduced = 13.0)));

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 0x0001
#define MAP_PRIVATE 0x0002
#define MAP_ANON 0x1000
#define MAP_ANONYMOUS MAP_ANON
#define MADV_WILLNEED 3
#define MADV_DONTNEED 4
void *_Null_unspecified mmap(void *_Nullable, size_t, int, int, int, off_t);
int munmap(void *_Null_unspecified, size_t);
int madvise(void *_Null_unspecified, size_t, int);
int mincore(const void *_Null_unspecified, size_t, char *_Nonnull);

struct passwd {
    char *_Null_unspecified pw_name; char *_Null_unspecified pw_passwd; uid_t pw_uid; gid_t pw_gid; time_t pw_change;
    char *_Null_unspecified pw_class; char *_Null_unspecified pw_gecos; char *_Null_unspecified pw_dir;
    char *_Null_unspecified pw_shell; time_t pw_expire;
};
struct passwd *_Nullable getpwuid(uid_t);
int getpwuid_r(uid_t, struct passwd *_Nonnull, char *_Nonnull, size_t, struct passwd *_Nullable *_Nonnull);

int pause(void);
gid_t getegid(void);
