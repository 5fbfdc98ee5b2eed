// Loads the library of pictures at its first use.
#include <dlfcn.h>

#include "failure.h"

// Where set-up laid the libraries; absent in a build without them.
#if __has_include(<hearth-vision.h>)
#include <hearth-vision.h>
#endif

const struct hearth_pictures *hearth_pictures_load(const char *path, struct hearth_vision_error *error) {
#ifdef HEARTH_PICTURES_PATH
    if (path == NULL) path = HEARTH_PICTURES_PATH;
#endif
    if (path == NULL) path = "libhearth-pictures.so";
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
