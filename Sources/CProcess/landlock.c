#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "landlock.h"

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// The same numbers on every architecture.
enum { create_ruleset = 444, add_rule = 445, restrict_self = 446 };
enum { ask_version = 1, rule_path_beneath = 1 };

enum {
    write_file = 1 << 1,
    read_file = 1 << 2,
    read_folder = 1 << 3,
    remove_folder = 1 << 4,
    remove_file = 1 << 5,
    make_folder = 1 << 7,
    make_file = 1 << 8,
    first_version = (1 << 13) - 1,
    move_between_folders = 1 << 13,  // Version 2.
    truncate_file = 1 << 14,         // Version 3.
    control_device = 1 << 15,        // Version 5.
};
enum { bind_tcp = 1 << 0, connect_tcp = 1 << 1 };             // Version 4.
enum { scope_abstract_socket = 1 << 0, scope_signal = 1 << 1 };  // Version 6.

/// The first is of version 1, the second of version 4, the third of version 6; the kernel is told the size.
struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct path_rule {
    uint64_t access;
    int32_t descriptor;
} __attribute__((packed));

int hearth_landlock_version(void) {
    long version = syscall(create_ruleset, NULL, 0, ask_version);
    return version > 0 ? (int)version : 0;
}

static uint64_t handled_files(int version) {
    uint64_t access = first_version;
    if (version >= 2) access |= move_between_folders;
    if (version >= 3) access |= truncate_file;
    if (version >= 5) access |= control_device;
    return access;
}

static void allow(int ruleset, int descriptor, uint64_t access) {
    struct stat facts;
    if (fstat(descriptor, &facts) != 0) return;
    // The kernel refuses rules about what a file cannot have.
    if (!S_ISDIR(facts.st_mode)) access &= read_file | write_file | truncate_file | control_device;
    struct path_rule rule = {.access = access, .descriptor = descriptor};
    // Without the rule the file stays closed.
    syscall(add_rule, ruleset, rule_path_beneath, &rule, 0);
}

static void allow_path(int ruleset, const char *path, uint64_t access) {
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    // A file that does not exist, or that the user may not reach, needs no rule.
    if (descriptor < 0) return;
    allow(ruleset, descriptor, access);
    struct statfs system;
    // Below /proc a rule is about an object that the kernel may forget and make anew while no process has it open.
    if (fstatfs(descriptor, &system) == 0 && system.f_type == PROC_SUPER_MAGIC) return;
    close(descriptor);
}

int hearth_landlock_restrict(const struct hearth_confinement *confinement) {
    int version = hearth_landlock_version();
    if (version == 0) return 0;
    struct ruleset rules = {.files = handled_files(version)};
    size_t size = sizeof rules.files;
    int holds = HEARTH_CONFINED_FILES;
    if (version >= 4) {
        rules.network = bind_tcp | connect_tcp;
        size = offsetof(struct ruleset, scopes);
        holds |= HEARTH_CONFINED_NETWORK;
    }
    if (version >= 6) {
        rules.scopes = scope_abstract_socket | scope_signal;
        size = sizeof rules;
        holds |= HEARTH_CONFINED_SIGNALS;
    }
    int ruleset = (int)syscall(create_ruleset, &rules, size, 0);
    if (ruleset < 0) return 0;
    uint64_t reading = read_file | read_folder;
    for (size_t index = 0; index < confinement->readable_count; index++) {
        allow_path(ruleset, confinement->readable[index], reading);
    }
    for (size_t index = 0; index < confinement->descriptor_count; index++) {
        allow(ruleset, confinement->descriptors[index], reading);
    }
    // No links, sockets, pipes or devices: other processes trust the kinds of files in the folder.
    uint64_t writing = reading | write_file | make_file | make_folder | remove_file | remove_folder;
    if (version >= 3) writing |= truncate_file;
    for (size_t index = 0; index < confinement->writable_count; index++) {
        allow_path(ruleset, confinement->writable[index], writing);
    }
    uint64_t controlling = reading | write_file;
    if (version >= 5) controlling |= control_device;
    for (size_t index = 0; index < confinement->device_count; index++) {
        allow_path(ruleset, confinement->devices[index], controlling);
    }
    if (syscall(restrict_self, ruleset, 0) != 0) holds = 0;
    close(ruleset);
    return holds;
}

#else

int hearth_landlock_version(void) { return 0; }

int hearth_landlock_restrict(const struct hearth_confinement *confinement) {
    (void)confinement;
    return 0;
}

#endif
