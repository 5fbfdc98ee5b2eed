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
#include <sys/syscall.h>
#endif

// What Swift cannot say itself: variadic functions, a va_list callback, and two system calls glibc does not wrap.

typedef void (*hearth_mhd_message)(const char *text);

// Formats one of the library's own messages; `context` is the function that takes the text.
static inline void hearth_mhd_log(void *context, const char *format, va_list arguments) {
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    ((hearth_mhd_message)context)(text);
}

// Starts a daemon on a listening socket the caller made. `workers` below 2 means a single thread.
static inline struct MHD_Daemon *hearth_mhd_start(
    int listening_socket, unsigned int workers, unsigned int connection_limit, unsigned int idle_seconds,
    size_t connection_memory, void *context, MHD_AccessHandlerCallback handler,
    void *(*begin)(void *context, const char *target, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback completed, hearth_mhd_message message) {
    struct MHD_OptionItem pool[] = {
        {workers > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)workers, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, handler, context,
        MHD_OPTION_EXTERNAL_LOGGER, hearth_mhd_log, (void *)message,
        MHD_OPTION_LISTEN_SOCKET, listening_socket,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, begin, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_ARRAY, pool,
        MHD_OPTION_END);
}

// The socket of a connection, -1 if there is none.
static inline int hearth_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
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
