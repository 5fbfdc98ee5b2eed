// A filter of system calls (seccomp) for code that computes with the files it may open, and talks over one socket.
#pragma once
#include <stdbool.h>

/// Whether the kernel has such filters for this processor.
bool hearth_filter_exists(void);

/// Filters the system calls of all threads from now on. With `writes`, files are opened for writing, made and removed; with
/// `devices`, they are opened for writing and controlled. Returns whether the filter holds.
bool hearth_filter_calls(bool writes, bool devices);
