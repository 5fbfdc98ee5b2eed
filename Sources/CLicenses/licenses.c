#include "CLicenses.h"

// A feature of C23 that clang offers in older C, too.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char text[] = {
#embed "licenses.txt"
};

const char *hearth_licenses(void) { return text; }
size_t hearth_licenses_length(void) { return sizeof text; }
