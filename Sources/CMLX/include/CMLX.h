// Loads the library that computes models with MLX. It is loaded at its first use, so that programs that run no such model
// start without it.
#pragma once
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Loads the library, which scripts/install-mlx.sh builds. NULL and a reason on failure. Never unloaded.
/// `path` is its file; NULL for the one that lies beside this program, else the one that set-up built.
const struct hearth_mlx_table *hearth_mlx_load(const char *path, struct hearth_mlx_error *error);

/// Writes the path of the library that would be loaded. False if there is none.
bool hearth_mlx_library(char *path, size_t capacity);

#ifdef __cplusplus
}
#endif
