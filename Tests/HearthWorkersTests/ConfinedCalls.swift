import Testing

/// A system call that a confined worker may not use, with arguments that would succeed or do no harm.
struct ConfinedCall: Sendable, CustomTestStringConvertible {
    let name: String
    let number: Int
    let arguments: [String]

    #if arch(x86_64)
    init(_ name: String, _ number: Int, _ arm: Int, _ arguments: [String] = []) {
        self.name = name
        self.number = number
        self.arguments = arguments
    }
    #else
    init(_ name: String, _ intel: Int, _ number: Int, _ arguments: [String] = []) {
        self.name = name
        self.number = number
        self.arguments = arguments
    }
    #endif

    var testDescription: String { name }

    /// Calls that answer `EPERM`: libraries try them and go on.
    static let refused: [ConfinedCall] = [
        .init("socket(inet)", 41, 198, ["2", "1"]), .init("socket(unix)", 41, 198, ["1", "1"]),
        .init("socket(netlink)", 41, 198, ["16", "3"]), .init("socketpair", 53, 199, ["1", "1", "0", "zeros"]),
        .init("connect", 42, 203, ["3", "zeros", "16"]), .init("bind", 49, 200, ["3", "zeros", "16"]),
        .init("listen", 50, 201, ["3", "1"]), .init("accept4", 288, 242, ["3"]),
        .init("sendmsg", 46, 211, ["3", "zeros"]), .init("recvmsg", 47, 212, ["3", "zeros"]),
        .init("sendto(address)", 44, 206, ["3", "zeros", "1", "0", "zeros", "16"]),
        .init("execve", 59, 221, ["/bin/true", "0", "0"]), .init("execveat", 322, 281, ["-100", "/bin/true"]),
        .init("kill(parent)", 62, 129, ["parent", "0"]), .init("kill(self)", 62, 129, ["self", "0"]),
        .init("kill(all)", 62, 129, ["-1", "0"]), .init("tkill", 200, 130, ["parent", "0"]),
        .init("tgkill(parent)", 234, 131, ["parent", "parent", "0"]),
        .init("rt_sigqueueinfo", 129, 138, ["parent", "0", "zeros"]),
        .init("rt_tgsigqueueinfo", 297, 240, ["parent", "parent", "0", "zeros"]),
        .init("pidfd_open", 434, 434, ["parent"]), .init("pidfd_send_signal", 424, 424, ["0"]),
        .init("clone(process)", 56, 220, ["17"]), .init("clone(vfork)", 56, 220, ["16657"]),
        .init("clone(user namespace)", 56, 220, ["268500736"]),
        .init("fcntl(F_SETOWN)", 72, 25, ["3", "8", "parent"]), .init("fcntl(F_SETSIG)", 72, 25, ["3", "10", "9"]),
        .init("fcntl(F_SETOWN_EX)", 72, 25, ["3", "15", "zeros"]),
        .init("ioctl(TIOCSTI)", 16, 29, ["0", "21522", "zeros"]),
        .init("ioctl(FIOSETOWN)", 16, 29, ["3", "35073", "zeros"]),
        .init("prctl(PR_SET_DUMPABLE)", 157, 167, ["4", "1"]),
        .init("prctl(PR_SET_PTRACER)", 157, 167, ["1499557217", "-1"]),
        .init("prlimit(set)", 302, 261, ["0", "7", "zeros"]), .init("prlimit(parent)", 302, 261, ["parent", "7"]),
        .init("setrlimit", 160, 164, ["4", "zeros"]), .init("fchmodat", 268, 53, ["-100", "/tmp", "511"]),
        .init("fchownat", 260, 54, ["-100", "/tmp"]), .init("utimensat", 280, 88, ["-100", "/tmp"]),
        .init("setxattr", 188, 5, ["/tmp", "/user.x", "zeros", "1"]),
        .init("linkat", 265, 37, ["-100", "/a", "-100", "/b"]),
        .init("symlinkat", 266, 36, ["/a", "-100", "/tmp/b"]),
        .init("mknodat", 259, 33, ["-100", "/tmp/pipe", "4480"]),
        .init("truncate", 76, 45, ["/tmp/none"]), .init("memfd_create", 319, 279, ["zeros"]),
        .init("mmap(shared)", 9, 222, ["0", "4096", "3", "33", "-1", "0"]),
        .init("inotify_init1", 294, 26), .init("sched_setaffinity(parent)", 203, 122, ["parent", "8", "zeros"]),
        .init("setpriority", 141, 140, ["0", "0", "5"]),
        .init("sched_setscheduler", 144, 119, ["parent", "0", "zeros"]),
        .init("setuid", 105, 146, ["0"]), .init("setsid", 112, 157), .init("personality", 135, 92),
        .init("shmget", 29, 194, ["0", "4096", "512"]), .init("semget", 64, 190, ["0", "1", "512"]),
        .init("msgget", 68, 186, ["0", "512"]), .init("mq_open", 240, 180, ["/q", "64"]),
        .init("seccomp", 317, 277, ["0"]), .init("kcmp", 312, 272), .init("chdir", 80, 49, ["/"]),
    ]

    /// Calls that end the process.
    static let fatal: [ConfinedCall] = [
        .init("ptrace(attach)", 101, 117, ["16", "parent"]), .init("ptrace(traceme)", 101, 117, ["0"]),
        .init("process_vm_readv", 310, 270, ["parent"]), .init("process_vm_writev", 311, 271, ["parent"]),
        .init("process_madvise", 440, 440, ["0"]), .init("pidfd_getfd", 438, 438, ["0"]),
        .init("bpf", 321, 280), .init("perf_event_open", 298, 241), .init("userfaultfd", 323, 282),
        .init("io_uring_setup", 425, 425), .init("io_uring_enter", 426, 426), .init("mount", 165, 40),
        .init("umount2", 166, 39), .init("open_tree", 428, 428), .init("fsopen", 430, 430),
        .init("pivot_root", 155, 41), .init("chroot", 161, 51, ["/"]), .init("init_module", 175, 105),
        .init("finit_module", 313, 273, ["-1"]), .init("delete_module", 176, 106),
        .init("kexec_load", 246, 104, ["0", "-1"]),
        .init("reboot", 169, 142), .init("swapon", 167, 224), .init("keyctl", 250, 219), .init("add_key", 248, 217),
        .init("request_key", 249, 218), .init("open_by_handle_at", 304, 265), .init("name_to_handle_at", 303, 264),
        .init("setns", 308, 268, ["-1"]), .init("unshare", 272, 97), .init("acct", 163, 89, ["/none"]),
        .init("syslog", 103, 116, ["10"]), .init("settimeofday", 164, 170), .init("fanotify_init", 300, 262),
        .init("move_pages", 279, 239, ["parent"]),
    ]

    /// Calls that the filter does not know answer `ENOSYS`, so that the C library uses older ones.
    static let unknown: [ConfinedCall] = [
        .init("clone3", 435, 435), .init("landlock_create_ruleset", 444, 444, ["0", "0", "1"]),
        .init("openat2", 437, 437),
        .init("fchmodat2", 452, 452, ["-100", "/tmp"]), .init("mseal", 462, 462), .init("newer", 999, 999),
        .init("times", 5000, 5000),
    ]
}
