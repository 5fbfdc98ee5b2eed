#include "CDocuments.h"

// A feature of C23 that clang offers in older C, too.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char errors[] = {
#embed "../../docs/errors.md"
};

const char *hearth_errors(void) { return errors; }
size_t hearth_errors_length(void) { return sizeof errors; }
