// The files of the page that `hearth serve` shows.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One file of the page.
struct hearth_page_file {
    /// The name below the page's folder, such as `kit/dom.js`.
    const char *name;
    const unsigned char *bytes;
    size_t length;
};

/// The number of files.
size_t hearth_page_count(void);
/// The file with an index below the count.
struct hearth_page_file hearth_page_file_at(size_t index);

#ifdef __cplusplus
}
#endif
