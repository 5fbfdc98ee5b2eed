#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "filter.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { architecture = (int)AUDIT_ARCH_X86_64 };
#else
enum { architecture = (int)AUDIT_ARCH_AARCH64 };
#endif

enum { allow = (int)SECCOMP_RET_ALLOW, end = (int)SECCOMP_RET_KILL_PROCESS, refuse = SECCOMP_RET_ERRNO | EPERM };
enum { maximum_length = 1024 };

struct filter {
    struct sock_filter steps[maximum_length];
    unsigned short length;
};

static void add(struct filter *filter, uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value) {
    if (filter->length >= maximum_length) return;
    filter->steps[filter->length++] = (struct sock_filter){code, if_true, if_false, value};
}

static void answer(struct filter *filter, int action) { add(filter, BPF_RET | BPF_K, 0, 0, (uint32_t)action); }

static void load(struct filter *filter, size_t offset) { add(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset); }

/// Loads the lower half of an argument. Both processors are little endian.
static void load_argument(struct filter *filter, int index) {
    load(filter, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)index);
}

static void load_upper_half(struct filter *filter, int index) {
    load(filter, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)index + sizeof(uint32_t));
}

/// Answers when the loaded value is `value`.
static void answer_if(struct filter *filter, uint32_t value, int action) {
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    answer(filter, action);
}

/// Answers unless the loaded value is `value`.
static void answer_unless(struct filter *filter, uint32_t value, int action) {
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value);
    answer(filter, action);
}

/// Answers when the loaded value has any of the bits.
static void answer_if_any(struct filter *filter, uint32_t bits, int action) {
    add(filter, BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
    answer(filter, action);
}

static void answer_all(struct filter *filter, const int *calls, size_t count, int action) {
    for (size_t index = 0; index < count; index++) answer_if(filter, (uint32_t)calls[index], action);
}

/// Begins the steps for one call, which must end with an answer. Returns the place for `end_call`.
static unsigned short begin_call(struct filter *filter, int call) {
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)call);
    return (unsigned short)(filter->length - 1);
}

static void end_call(struct filter *filter, unsigned short start) {
    filter->steps[start].jf = (uint8_t)(filter->length - start - 1);
}

/// Allows a call whose argument is one of the values.
static void allow_values(struct filter *filter, int call, int argument, const uint32_t *values, size_t count) {
    unsigned short start = begin_call(filter, call);
    load_argument(filter, argument);
    for (size_t index = 0; index < count; index++) answer_if(filter, values[index], allow);
    answer(filter, refuse);
    end_call(filter, start);
}

static void check_opening(struct filter *filter, int call, int argument) {
    unsigned short start = begin_call(filter, call);
    load_argument(filter, argument);
    answer_if_any(filter, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), SECCOMP_RET_ERRNO | EACCES);
    answer(filter, allow);
    end_call(filter, start);
}

/// Threads, but no processes, nor namespaces. Structures cannot be checked: without clone3 the C library calls clone.
static void check_clone(struct filter *filter) {
    unsigned short start = begin_call(filter, SYS_clone);
    load_argument(filter, 0);
    answer_if_any(
        filter,
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET, refuse);
    answer_if_any(filter, CLONE_THREAD, allow);
    answer(filter, refuse);
    end_call(filter, start);
}

/// Memory without a file that processes share does not count for the limit of memory.
static void check_mapping(struct filter *filter) {
    unsigned short start = begin_call(filter, SYS_mmap);
    load_argument(filter, 3);
    add(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, MAP_SHARED | MAP_ANONYMOUS);
    answer_if(filter, MAP_SHARED | MAP_ANONYMOUS, refuse);
    answer(filter, allow);
    end_call(filter, start);
}

/// A failed assertion sends its thread SIGABRT.
static void check_tgkill(struct filter *filter) {
    uint32_t own[] = {(uint32_t)getpid()};
    allow_values(filter, SYS_tgkill, 0, own, 1);
}

/// Messages over connected sockets only.
static void check_sendto(struct filter *filter) {
    unsigned short start = begin_call(filter, SYS_sendto);
    load_argument(filter, 4);
    answer_unless(filter, 0, refuse);
    load_upper_half(filter, 4);
    answer_unless(filter, 0, refuse);
    answer(filter, allow);
    end_call(filter, start);
}

/// Limits of the process itself may be read.
static void check_prlimit(struct filter *filter) {
    unsigned short start = begin_call(filter, SYS_prlimit64);
    load_argument(filter, 0);
    answer_unless(filter, 0, refuse);
    load_argument(filter, 2);
    answer_unless(filter, 0, refuse);
    load_upper_half(filter, 2);
    answer_unless(filter, 0, refuse);
    answer(filter, allow);
    end_call(filter, start);
}

static void check_arguments(struct filter *filter, bool devices) {
    // F_SETOWN and F_SETSIG would send signals to other processes.
    static const uint32_t controls[] = {
        F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW,
        F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW,
    };
    static const uint32_t requests[] = {TCGETS, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX};
    static const uint32_t options[] = {
        PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE,
        0x53564d41,  // PR_SET_VMA names memory.
        51,          // PR_SVE_GET_VL and PR_SME_GET_VL: the lengths of vectors.
        64,
    };
    static const uint32_t this_thread[] = {0};
    allow_values(filter, SYS_fcntl, 1, controls, sizeof controls / sizeof *controls);
    static const int device_calls[] = {SYS_ioctl, SYS_memfd_create};
    if (devices) answer_all(filter, device_calls, sizeof device_calls / sizeof *device_calls, allow);
    allow_values(filter, SYS_ioctl, 1, requests, sizeof requests / sizeof *requests);
    allow_values(filter, SYS_prctl, 0, options, sizeof options / sizeof *options);
    allow_values(filter, SYS_sched_setaffinity, 0, this_thread, 1);
    if (devices) {
        answer_if(filter, SYS_mmap, allow);
    } else {
        check_mapping(filter);
    }
    check_clone(filter);
    check_tgkill(filter);
    check_sendto(filter);
    check_prlimit(filter);
}

static void build(struct filter *filter, bool writes, bool devices) {
    load(filter, offsetof(struct seccomp_data, arch));
    answer_unless(filter, (uint32_t)architecture, end);
    load(filter, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    // The calls of x32 have the same architecture and other numbers.
    add(filter, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000);
    answer(filter, end);
#endif
    answer_all(filter, allowed_calls, sizeof allowed_calls / sizeof *allowed_calls, allow);
    if (writes || devices) {
        static const int opening[] = {
            SYS_openat,
#if defined(__x86_64__)
            SYS_open,
#endif
        };
        answer_all(filter, opening, sizeof opening / sizeof *opening, allow);
    } else {
        check_opening(filter, SYS_openat, 2);
#if defined(__x86_64__)
        check_opening(filter, SYS_open, 1);
#endif
    }
    answer_all(filter, writing_calls, sizeof writing_calls / sizeof *writing_calls, writes ? allow : refuse);
    check_arguments(filter, devices);
    answer_all(filter, refused_calls, sizeof refused_calls / sizeof *refused_calls, refuse);
    answer_all(filter, fatal_calls, sizeof fatal_calls / sizeof *fatal_calls, end);
    answer(filter, SECCOMP_RET_ERRNO | ENOSYS);
}

bool hearth_filter_exists(void) {
    uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool hearth_filter_calls(bool writes, bool devices) {
    static struct filter filter;
    filter.length = 0;
    build(&filter, writes, devices);
    if (filter.length >= maximum_length) return false;
    struct sock_fprog program = {.len = filter.length, .filter = filter.steps};
    // Kernels before 5.16 slow a filtered process down against Spectre, which protects secrets within one process.
    unsigned flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

#else

bool hearth_filter_exists(void) { return false; }

bool hearth_filter_calls(bool writes, bool devices) {
    (void)writes;
    (void)devices;
    return false;
}

#endif
