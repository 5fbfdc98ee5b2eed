// The reasons of failures.
#pragma once
#include <stdarg.h>
#include <stdio.h>

#include "CVision.h"

/// Writes a reason; the text is cut off at the end of its buffer.
__attribute__((format(printf, 3, 4))) static inline void hearth_fail(
    struct hearth_vision_error *error, enum hearth_vision_failure kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error->kind = kind;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
}
