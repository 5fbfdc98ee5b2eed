#include "CLlamaShim.h"

#ifdef HEARTH_LLAMA

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void hearth_memory_trim() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

#endif
