// Finds and loads the library that computes models with MLX.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "CMLX.h"

// Where set-up laid the library; absent in a build without it.
#if __has_include(<hearth-mlx.h>)
#include <hearth-mlx.h>
#endif

static void fail(struct hearth_mlx_error *error, const char *reason) {
    error->kind = HEARTH_MLX_MISSING;
    snprintf(error->text, sizeof error->text, "%s", reason);
}

/// Writes the path of the library in `lib/hearth` beside the program's folder, where `make install` lays it.
static bool own_library(char *path, size_t capacity) {
    char program[PATH_MAX];
    // Links are resolved: a link to an installed program finds the libraries of that.
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return false;
    program[length] = 0;
    for (int level = 0; level < 2; level++) {
        char *slash = strrchr(program, '/');
        if (slash == NULL) return false;
        *slash = 0;
    }
    int count = snprintf(path, capacity, "%s/lib/hearth/libhearth-mlx.so", program);
    return count > 0 && (size_t)count < capacity && access(path, R_OK) == 0;
}

bool hearth_mlx_library(char *path, size_t capacity) {
    if (own_library(path, capacity)) return true;
#ifdef HEARTH_MLX_PATH
    int count = snprintf(path, capacity, "%s", HEARTH_MLX_PATH);
    return count > 0 && (size_t)count < capacity && access(path, R_OK) == 0;
#else
    return false;
#endif
}

const struct hearth_mlx_table *hearth_mlx_load(const char *path, struct hearth_mlx_error *error) {
    error->kind = HEARTH_MLX_NONE;
    error->text[0] = 0;
    char found[PATH_MAX];
    if (path == NULL) {
        if (!hearth_mlx_library(found, sizeof found)) {
            fail(error, "libhearth-mlx.so is not installed");
            return NULL;
        }
        path = found;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fail(error, dlerror());
        return NULL;
    }
    const struct hearth_mlx_table *(*functions)(void) = NULL;
    // ISO C has no conversion from an object's address to a function's.
    *(void **)&functions = dlsym(library, "hearth_mlx_functions");
    const struct hearth_mlx_table *table = functions != NULL ? functions() : NULL;
    if (table == NULL || table->version != HEARTH_MLX_VERSION) {
        fail(error, "libhearth-mlx.so is of another version");
        dlclose(library);
        return NULL;
    }
    return table;
}
