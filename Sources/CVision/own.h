// The libraries that were installed together with a program.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Writes the path of a library in `lib/hearth` beside the program's folder, where `make install` lays it.
/// False if this program has none there.
bool hearth_own_library(const char *name, char *path, size_t capacity);
