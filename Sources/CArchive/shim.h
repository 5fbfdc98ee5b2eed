// libarchive as Swift sees it, and the two things about it that C alone can say.
#pragma once

#if __has_include(<archive.h>)
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

// libarchive converts names to the character set of the thread's locale. A program that never chose one has "C", in which
// half of the world's names do not exist. This changes the calling thread's alone, and only until it is given back.
typedef struct {
    locale_t made;
    locale_t before;
} hearth_locale;

static inline hearth_locale hearth_locale_utf8(void) {
    hearth_locale names = {newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), (locale_t)0};
    if (names.made) names.before = uselocale(names.made);
    return names;
}

static inline void hearth_locale_restore(hearth_locale names) {
    if (!names.made) return;
    uselocale(names.before);
    freelocale(names.made);
}

// The kinds of entries; the originals are casts, which Swift does not read.
static inline int hearth_archive_is_file(struct archive_entry *entry) { return archive_entry_filetype(entry) == AE_IFREG; }
static inline int hearth_archive_is_folder(struct archive_entry *entry) { return archive_entry_filetype(entry) == AE_IFDIR; }
static inline unsigned hearth_archive_mode(struct archive_entry *entry) { return (unsigned)archive_entry_mode(entry); }
#endif
