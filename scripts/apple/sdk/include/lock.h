// What the toolchain's Synchronization, compiled for Linux, calls in code that the compiler inlines.
typedef unsigned int hearth_futex;
hearth_futex _swift_stdlib_gettid(void);
hearth_futex _swift_stdlib_futex_lock(hearth_futex *);
hearth_futex _swift_stdlib_futex_trylock(hearth_futex *);
hearth_futex _swift_stdlib_futex_unlock(hearth_futex *);
