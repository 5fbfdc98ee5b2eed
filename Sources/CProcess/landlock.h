// Landlock of the kernel's documentation (userspace-api/landlock), with the numbers that older headers lack.
#pragma once
#include "CProcess.h"

/// The version of Landlock that the kernel has; 0 for none.
int hearth_landlock_version(void);

/// Confines the calling thread and all that it starts. Returns the bits of enum hearth_confined that hold.
int hearth_landlock_restrict(const struct hearth_confinement *confinement);
