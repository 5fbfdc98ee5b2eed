#pragma once
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#endif

// What Swift cannot say itself: variadic functions, a va_list callback, packed structures, and system calls that glibc
// does not wrap.

typedef void (*hearth_mhd_message)(const char *text);

// Formats one of the library's own messages; `context` is the function that takes the text.
static inline void hearth_mhd_log(void *context, const char *format, va_list arguments) {
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    ((hearth_mhd_message)context)(text);
}

// The options of a daemon.
typedef struct {
    // Below 2: a single thread.
    unsigned int workers;
    unsigned int connection_limit;
    unsigned int idle_seconds;
    size_t connection_memory;
    // PEM texts; NULL for a server without TLS.
    const char *certificate;
    const char *key;
    void *context;
    MHD_AccessHandlerCallback handler;
    void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    hearth_mhd_message message;
} hearth_mhd_options;

// Starts a daemon for connections that the caller accepts: the library's own quiescing ends the process if its thread
// removes the listening socket at the same moment. The texts of `options` are copied by the library.
static inline struct MHD_Daemon *hearth_mhd_start(const hearth_mhd_options *options) {
    struct MHD_OptionItem more[5];
    int count = 0;
    // A pool of one thread is refused with a warning.
    if (options->workers > 1)
        more[count++] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)options->workers, NULL};
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                         MHD_USE_NO_LISTEN_SOCKET;
    if (options->certificate && options->key) {
        flags |= MHD_USE_TLS;
        more[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)options->certificate};
        more[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)options->key};
        more[count++] = (struct MHD_OptionItem){
            MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
    }
    more[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    return MHD_start_daemon(
        flags, 0, NULL, NULL, options->handler, options->context,
        MHD_OPTION_EXTERNAL_LOGGER, hearth_mhd_log, (void *)options->message,
        MHD_OPTION_CONNECTION_LIMIT, options->connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, options->begin, options->context,
        MHD_OPTION_NOTIFY_COMPLETED, options->completed, options->context,
        MHD_OPTION_NOTIFY_CONNECTION, options->connection, options->context,
        MHD_OPTION_ARRAY, more,
        MHD_OPTION_END);
}

// Accepts a connection and gives it to a daemon. Returns 1, 0 if none waits, or -1 with the error in `errno`.
static inline int hearth_mhd_accept(struct MHD_Daemon *daemon, int listening_socket) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
#ifdef __linux__
    int client = (int)syscall(
        SYS_accept4, listening_socket, &address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
    int client = accept(listening_socket, (struct sockaddr *)&address, &length);
#endif
    if (client < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == ECONNABORTED || errno == EINTR ? 0 : -1;
    // The library closes the socket of a connection that it refuses.
    return MHD_add_connection(daemon, client, (struct sockaddr *)&address, length) == MHD_YES ? 1 : -1;
}

// The socket of a connection, -1 if there is none.
static inline int hearth_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

// What the notification of a connection's start kept for it.
static inline void *hearth_mhd_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

// The peer's address, NULL if there is none.
static inline const struct sockaddr *hearth_mhd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

// Follows the fields of a header through the library's memory; `context` is the end of the last line's text.
static inline enum MHD_Result hearth_mhd_follow(
    void *context, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value, size_t value_size) {
    (void)kind;
    const char **end = (const char **)context;
    const int follows = (uintptr_t)name == (uintptr_t)*end + 2 && !(*end)[0] && !(*end)[1];
    *end = !follows ? NULL : value ? value + value_size : name + name_size;
    return follows ? MHD_YES : MHD_NO;
}

// Whether each line of a header ends with CRLF, and none has a NUL or is folded. The library's parser takes a line feed
// alone as an end, and a NUL as the end of a text. It leaves the lines where they arrived and writes NUL over the CRLF of
// each: so between two texts lie two bytes, one after a line feed alone, and more after a NUL; behind the last text, the
// size of the whole header tells.
// Call it at the first call of the access handler. Later versions than 0.9 have another parser, which refuses both.
static inline int hearth_mhd_lines_are_plain(
    struct MHD_Connection *connection, const char *method, const char *url, size_t target_length, const char *version) {
    if (strncmp(MHD_get_version(), "0.9.", 4) != 0) return 1;
    if ((uintptr_t)url != (uintptr_t)method + strlen(method) + 1) return 0;
    if ((uintptr_t)version != (uintptr_t)url + target_length + 1) return 0;
    const char *end = version + strlen(version);
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, hearth_mhd_follow, &end);
    if (!end) return 0;
    // The end of the last line and the empty line have two bytes each.
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info && info->header_size == (size_t)(end - method) + 4;
}

// The bytes the peer has acknowledged since the connection was made (`tcpi_bytes_acked`), 0 where that is not known.
static inline uint64_t hearth_acknowledged_bytes(int socket) {
#ifdef __linux__
    // struct tcp_info only ever grows; glibc's copy ends before this field, which the kernel keeps at byte 120.
    unsigned char facts[256];
    socklen_t length = sizeof facts;
    uint64_t count = 0;
    if (getsockopt(socket, IPPROTO_TCP, 11 /* TCP_INFO */, facts, &length) == 0 && length >= 128)
        memcpy(&count, facts + 120, sizeof count);
    return count;
#else
    (void)socket;
    return 0;
#endif
}

// Opens `path` for reading so that neither `..` nor a symbolic link can leave `folder` (openat2, RESOLVE_BENEATH and
// RESOLVE_NO_MAGICLINKS). Fails with ENOSYS where the system has no such call.
static inline int hearth_open_beneath(int folder, const char *path) {
#if defined(__linux__) && defined(SYS_openat2)
    struct { uint64_t flags, mode, resolve; } how = {
        O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0x08 /* BENEATH */ | 0x02 /* NO_MAGICLINKS */};
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
#else
    (void)folder; (void)path;
    errno = ENOSYS;
    return -1;
#endif
}

// A set of sockets whose peers may leave: an epoll descriptor, and an eventfd that interrupts a wait (mark 0).
typedef struct { int set, bell; } hearth_watch;

// Makes a set; `set` is -1 where the system has none.
static inline hearth_watch hearth_watch_make(void) {
    hearth_watch watch = {-1, -1};
#ifdef __linux__
    watch.set = epoll_create1(EPOLL_CLOEXEC);
    watch.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    if (watch.set < 0 || watch.bell < 0 || epoll_ctl(watch.set, EPOLL_CTL_ADD, watch.bell, &event) != 0) {
        if (watch.set >= 0) close(watch.set);
        if (watch.bell >= 0) close(watch.bell);
        watch.set = watch.bell = -1;
    }
#endif
    return watch;
}

// Watches a socket until its peer stops sending or the connection ends; reported once, with `mark`.
static inline int hearth_watch_add(hearth_watch watch, int socket, uint64_t mark) {
#ifdef __linux__
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = mark};
    return epoll_ctl(watch.set, EPOLL_CTL_ADD, socket, &event);
#else
    (void)watch; (void)socket; (void)mark;
    return -1;
#endif
}

// Ends the watch of a socket before it is closed: closing a duplicate alone leaves it in the set, and the next duplicate with
// its number is refused.
static inline void hearth_watch_remove(hearth_watch watch, int socket) {
#ifdef __linux__
    epoll_ctl(watch.set, EPOLL_CTL_DEL, socket, NULL);
#else
    (void)watch; (void)socket;
#endif
}

// Interrupts the wait.
static inline void hearth_watch_ring(hearth_watch watch) {
    uint64_t one = 1;
    if (watch.bell >= 0 && write(watch.bell, &one, sizeof one) < 0) return;
}

// Waits at most `milliseconds` (-1: without end) and writes the marks of at most 64 sockets; the bell is left out.
static inline int hearth_watch_wait(hearth_watch watch, int milliseconds, uint64_t *marks) {
#ifdef __linux__
    struct epoll_event events[64];
    int count = epoll_wait(watch.set, events, 64, milliseconds), found = 0;
    for (int index = 0; index < count; index++) {
        if (events[index].data.u64 == 0) {
            uint64_t rings;
            if (read(watch.bell, &rings, sizeof rings) < 0) continue;
        } else {
            marks[found++] = events[index].data.u64;
        }
    }
    return found;
#else
    (void)watch; (void)milliseconds; (void)marks;
    usleep(1000000);
    return 0;
#endif
}
