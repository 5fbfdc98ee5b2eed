// The system calls of workers by their answer. Calls in none of these lists, such as those of newer kernels, answer ENOSYS,
// and the C library uses an older one instead. filter.c has the calls whose arguments decide.
#pragma once
#include <sys/syscall.h>

/// Harmless, or limited by Landlock.
static const int allowed_calls[] = {
    // Open files.
    SYS_read, SYS_readv, SYS_pread64, SYS_preadv, SYS_write, SYS_writev, SYS_pwrite64, SYS_pwritev, SYS_lseek,
    SYS_close, SYS_fstat, SYS_getdents64, SYS_fadvise64, SYS_readahead, SYS_fsync, SYS_fdatasync, SYS_ftruncate,
    SYS_fallocate, SYS_flock, SYS_dup, SYS_dup3, SYS_fstatfs,
    // Facts about files by name.
    SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getcwd, SYS_statfs,
    // The socket. Its descriptor exists; no other can be made.
    SYS_recvfrom, SYS_shutdown,
    // Memory.
    SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_msync, SYS_mincore, SYS_brk, SYS_mlock, SYS_munlock,
    SYS_membarrier, SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind,
    // Threads.
    SYS_futex, SYS_set_robust_list, SYS_set_tid_address, SYS_rseq, SYS_gettid, SYS_sched_yield, SYS_sched_getaffinity,
    SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_getcpu,
    SYS_exit, SYS_exit_group, SYS_restart_syscall,
    // Waiting.
    SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_eventfd2, SYS_pipe2,
    SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime, SYS_nanosleep, SYS_clock_nanosleep,
    // Signals of the process itself.
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    // Facts about the process and the machine.
    SYS_getpid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getpriority, SYS_getrusage, SYS_times,
    SYS_uname, SYS_sysinfo, SYS_getrandom, SYS_gettimeofday, SYS_clock_gettime, SYS_clock_getres, SYS_umask,
#if defined(__x86_64__)
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_dup2, SYS_pipe, SYS_poll, SYS_select, SYS_epoll_create,
    SYS_epoll_wait, SYS_time, SYS_arch_prctl, SYS_getrlimit,
#endif
};

/// Allowed where a folder is writable: Landlock limits them to it.
static const int writing_calls[] = {
    SYS_mkdirat, SYS_renameat2, SYS_unlinkat,
#if defined(__x86_64__) || defined(SYS_renameat)
    SYS_renameat,
#endif
#if defined(__x86_64__)
    SYS_mkdir, SYS_rename, SYS_unlink, SYS_rmdir,
#endif
};

/// Libraries try these and live with a refusal (EPERM). Landlock does not cover the changes of owner, rights and times.
static const int refused_calls[] = {
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_sendmsg, SYS_sendmmsg,
    SYS_recvmsg, SYS_recvmmsg, SYS_setsockopt, SYS_getsockopt, SYS_getsockname, SYS_getpeername, SYS_execve, SYS_execveat,
    SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open, SYS_pidfd_send_signal, SYS_fchmod,
    SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_fremovexattr, SYS_linkat, SYS_symlinkat, SYS_mknodat, SYS_truncate, SYS_setrlimit, SYS_chdir,
    SYS_fchdir, SYS_setpriority, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr, SYS_ioprio_set,
    SYS_memfd_create, SYS_inotify_init1, SYS_mq_open, SYS_shmget, SYS_semget, SYS_msgget, SYS_setsid, SYS_setpgid,
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_setfsuid,
    SYS_setfsgid, SYS_capset, SYS_kcmp, SYS_personality, SYS_seccomp,
#if defined(__x86_64__)
    SYS_fork, SYS_vfork, SYS_creat, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_link,
    SYS_symlink, SYS_mknod, SYS_inotify_init,
#endif
};

/// No library of an engine calls these: the process ends (SIGSYS).
static const int fatal_calls[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise, SYS_pidfd_getfd, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_mount,
    SYS_umount2, SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr,
    SYS_pivot_root, SYS_chroot, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot,
    SYS_swapon, SYS_swapoff, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_open_by_handle_at, SYS_name_to_handle_at,
    SYS_setns, SYS_unshare, SYS_acct, SYS_quotactl, SYS_syslog, SYS_sethostname, SYS_setdomainname, SYS_settimeofday,
    SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_vhangup, SYS_fanotify_init, SYS_fanotify_mark,
    SYS_migrate_pages, SYS_move_pages,
#if defined(__x86_64__)
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_kexec_file_load,
#endif
};
