// The licenses of everything in the program, gathered by scripts/tests/licenses.py.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The text of licenses.txt, in UTF-8, without a NUL at its end. Sections begin with lines of the form `=== group | name | license`.
const char *hearth_licenses(void);
/// The length of the text in bytes.
size_t hearth_licenses_length(void);

#ifdef __cplusplus
}
#endif
