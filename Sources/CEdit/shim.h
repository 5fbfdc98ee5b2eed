// libedit for Swift, which calls no function with a variable number of arguments.
#pragma once
#include <histedit.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

// Starts an editor of the process's terminal. Its C library needs a locale to tell characters from bytes.
static inline EditLine *hearth_edit_start(const char *name) {
    setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX < 2) setlocale(LC_CTYPE, "C.UTF-8");
    return el_init(name, stdin, stdout, stderr);
}

// Sets the object that callbacks find with `hearth_edit_owner`.
static inline int hearth_edit_set_owner(EditLine *edit, void *owner) { return el_set(edit, EL_CLIENTDATA, owner); }

static inline void *hearth_edit_owner(EditLine *edit) {
    void *owner = NULL;
    el_get(edit, EL_CLIENTDATA, &owner);
    return owner;
}

static inline int hearth_edit_use_keys(EditLine *edit, const char *style) { return el_set(edit, EL_EDITOR, style); }

// Sets the function that returns the prompt; text between two `mark` characters takes no columns.
static inline int hearth_edit_set_prompt(EditLine *edit, char *(*prompt)(EditLine *), char mark) {
    return el_set(edit, EL_PROMPT_ESC, prompt, mark);
}

// Sets the function that reads a character: it returns 1, 0 at the end and -1 for an error.
static inline int hearth_edit_set_reader(EditLine *edit, int (*reader)(EditLine *, wchar_t *)) {
    return el_set(edit, EL_GETCFN, reader);
}

// Adds a function that keys can be bound to.
static inline int hearth_edit_add_function(
    EditLine *edit, const char *name, const char *help, unsigned char (*function)(EditLine *, int)) {
    return el_set(edit, EL_ADDFN, name, help, function);
}

static inline int hearth_edit_bind(EditLine *edit, const char *key, const char *function) {
    return el_set(edit, EL_BIND, key, function, NULL);
}

static inline int hearth_edit_set_terminal(EditLine *edit, const char *mode, const char *setting) {
    return el_set(edit, EL_SETTY, mode, setting, NULL);
}

// Takes the terminal again, and draws the line anew, after the program was stopped.
static inline void hearth_edit_resume(EditLine *edit) {
    el_set(edit, EL_PREP_TERM, 0);
    el_set(edit, EL_PREP_TERM, 1);
    el_set(edit, EL_REFRESH, NULL);
}

// Lets an editor walk through a history.
static inline int hearth_edit_use_history(EditLine *edit, History *entries) {
    return el_set(edit, EL_HIST, history, entries);
}

static inline int hearth_history_set_size(History *entries, int size) {
    HistEvent event;
    return history(entries, &event, H_SETSIZE, size);
}

static inline int hearth_history_add(History *entries, const char *line) {
    HistEvent event;
    return history(entries, &event, H_ENTER, line);
}
