#include "CPage.h"

// A feature of C23 that clang offers in older C, too.
#pragma clang diagnostic ignored "-Wc23-extensions"

#include "files.inc"

// Without the libraries, which set-up brings, the page shows Markdown as plain text.
#if __has_include(<hearth-web.h>)
#include <hearth-web.h>
#endif

static const struct hearth_page_file files[] = {
#define HEARTH_PAGE_ENTRY(name, bytes) {name, bytes, sizeof bytes},
    HEARTH_PAGE_FILES
#if __has_include(<hearth-web.h>)
    HEARTH_WEB_FILES
#endif
};

size_t hearth_page_count(void) { return sizeof files / sizeof *files; }

struct hearth_page_file hearth_page_file_at(size_t index) { return files[index]; }
