// Flags of files that only C sees.
#define _GNU_SOURCE
#include <fcntl.h>

#include "CProcess.h"

int hearth_file_direct_flag(void) {
#ifdef O_DIRECT
    return O_DIRECT;
#else
    return 0;
#endif
}
