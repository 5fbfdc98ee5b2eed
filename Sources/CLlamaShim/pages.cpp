#include "CLlamaShim.h"

#ifdef HEARTH_LLAMA

#include <algorithm>
#include <cstdlib>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace {

/// The size of a huge page of x86-64, and of arm64 with the usual pages of 4 KiB.
constexpr size_t huge_page = size_t(2) << 20;

}  // namespace

int hearth_buffer_allocate(void **memory, size_t alignment, size_t bytes) {
#ifdef MADV_HUGEPAGE
    if (bytes >= huge_page && bytes <= SIZE_MAX - huge_page) {
        const size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
        const int status = posix_memalign(memory, std::max(alignment, huge_page), whole);
        // A failure is ignored: without huge pages the memory is usable all the same.
        if (status == 0) (void)madvise(*memory, whole, MADV_HUGEPAGE);
        return status;
    }
#endif
    return posix_memalign(memory, alignment, bytes);
}

#endif
