#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "filter.h"
#include "landlock.h"

#include <time.h>

#if defined(__linux__)
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Gives up the superuser's rights but those over files, which Landlock limits: one of them (CAP_PERFMON) shows the memory
/// map and environment of processes that Landlock hides. A refusal changes nothing else.
static void drop_rights(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &header, rights) != 0) return;
    uint32_t kept = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
    for (int index = 0; index < _LINUX_CAPABILITY_U32S_3; index++) {
        rights[index].permitted &= index == 0 ? kept : 0;
        rights[index].effective = rights[index].permitted;
        rights[index].inheritable = 0;
    }
    syscall(SYS_capset, &header, rights);
}
#endif

int hearth_confine(const struct hearth_confinement *confinement) {
    // Reads the time zone while its file can be opened.
    tzset();
#if defined(__linux__)
    // Both need it.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
#endif
#if defined(__linux__)
    drop_rights();
#endif
    int holds = hearth_landlock_restrict(confinement);
    // Last: it refuses the calls of Landlock.
    if (hearth_filter_calls(confinement->writable_count > 0, confinement->device_count > 0)) holds |= HEARTH_CONFINED_CALLS;
    return holds;
}

int hearth_confinement_files(void) { return hearth_landlock_version(); }

bool hearth_confinement_calls(void) { return hearth_filter_exists(); }
