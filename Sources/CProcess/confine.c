#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "filter.h"
#include "landlock.h"

#include <time.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

int hearth_confine(const struct hearth_confinement *confinement) {
    // Reads the time zone while its file can be opened.
    tzset();
#if defined(__linux__)
    // Both need it.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
#endif
    int holds = hearth_landlock_restrict(confinement);
    // Last: it refuses the calls of Landlock.
    if (hearth_filter_calls(confinement->writable_count > 0, confinement->device_count > 0)) holds |= HEARTH_CONFINED_CALLS;
    return holds;
}

int hearth_confinement_files(void) { return hearth_landlock_version(); }

bool hearth_confinement_calls(void) { return hearth_filter_exists(); }
