// Loads the library of pictures at its first use, and finds the libraries that were installed with a program.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "failure.h"
#include "own.h"

// Where set-up laid the libraries; absent in a build without them.
#if __has_include(<hearth-vision.h>)
#include <hearth-vision.h>
#endif

bool hearth_own_library(const char *name, char *path, size_t capacity) {
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
    int count = snprintf(path, capacity, "%s/lib/hearth/%s", program, name);
    return count > 0 && (size_t)count < capacity && access(path, R_OK) == 0;
}

/// The functions of a library. NULL and a reason on failure.
static const struct hearth_pictures *load(const char *path, struct hearth_vision_error *error) {
    // Bound lazily: most functions of the hundred libraries are never called.
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        hearth_fail(error, HEARTH_VISION_MISSING, "%s", dlerror());
        return NULL;
    }
    const struct hearth_pictures *(*table)(void) = NULL;
    // ISO C has no conversion from an object's address to a function's.
    *(void **)&table = dlsym(library, "hearth_pictures_table");
    const struct hearth_pictures *functions = table != NULL ? table() : NULL;
    if (functions == NULL || functions->version != HEARTH_PICTURES_VERSION) {
        hearth_fail(error, HEARTH_VISION_MISSING, "%s is of another version", path);
        dlclose(library);
        return NULL;
    }
    return functions;
}

const struct hearth_pictures *hearth_pictures_load(const char *path, struct hearth_vision_error *error) {
    if (path != NULL) return load(path, error);
    char own[PATH_MAX];
    if (hearth_own_library("libhearth-pictures.so", own, sizeof own)) {
        const struct hearth_pictures *functions = load(own, error);
        if (functions != NULL) return functions;
    }
#ifdef HEARTH_PICTURES_PATH
    return load(HEARTH_PICTURES_PATH, error);
#else
    return load("libhearth-pictures.so", error);
#endif
}
