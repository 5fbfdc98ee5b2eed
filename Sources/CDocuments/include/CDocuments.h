// Documents that the program can show.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The text of docs/errors.md, in UTF-8, without a NUL at its end.
const char *hearth_errors(void);
/// The length of the text in bytes.
size_t hearth_errors_length(void);

#ifdef __cplusplus
}
#endif
