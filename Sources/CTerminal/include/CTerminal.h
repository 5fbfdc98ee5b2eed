// Gives a terminal back that a program has for itself when the program is ended from outside: in a handler of a signal, where
// hardly anything may be called. One terminal at a time, all of it in static storage.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The longest sequence that is kept, in bytes.
enum { HEARTH_TERMINAL_SEQUENCE_LIMIT = 64 };

/// Keeps what gives a terminal back. From now on SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE and SIGQUIT give it back before
/// they do what they did before; one that is ignored stays ignored.
/// - input: the descriptor whose attributes are changed; output: the one that is written to. Both stay the caller's.
/// - attributes: those to give back.
/// - sequence: what to write then, `length` bytes, which are copied.
/// Returns whether it is kept: `false` where another one is, or was given back already, or the sequence is too long.
bool hearth_terminal_keep(
    int input, int output, const struct termios *attributes, const char *sequence, size_t length);

/// Forgets it, and leaves the signals to their handlers before. The terminal stays as it is.
void hearth_terminal_forget(void);

/// Gives it back, once, where one is kept: for code that is about to end the process. May be called in a handler of a signal and
/// on any thread. Waits at most a tenth of a second; what the terminal has not taken by then may be thrown away.
void hearth_terminal_give_back(void);

#ifdef __cplusplus
}
#endif
