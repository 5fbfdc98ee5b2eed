// Sockets and polling: sys/socket.h, netinet/in.h, arpa/inet.h, netdb.h, sys/un.h, poll.h, ifaddrs.h, termios.h.
#pragma once

typedef uint8_t sa_family_t;
typedef uint32_t socklen_t;
typedef uint16_t in_port_t;
typedef uint32_t in_addr_t;
struct sockaddr { uint8_t sa_len; sa_family_t sa_family; char sa_data[14]; };
struct sockaddr_storage { uint8_t ss_len; sa_family_t ss_family; char __ss_pad1[6]; int64_t __ss_align; char __ss_pad2[112]; };
struct in_addr { in_addr_t s_addr; };
struct in6_addr { union { uint8_t __u6_addr8[16]; uint16_t __u6_addr16[8]; uint32_t __u6_addr32[4]; } __u6_addr; };
struct sockaddr_in { uint8_t sin_len; sa_family_t sin_family; in_port_t sin_port; struct in_addr sin_addr; char sin_zero[8]; };
struct sockaddr_in6 {
    uint8_t sin6_len; sa_family_t sin6_family; in_port_t sin6_port; uint32_t sin6_flowinfo; struct in6_addr sin6_addr;
    uint32_t sin6_scope_id;
};
struct sockaddr_un { uint8_t sun_len; sa_family_t sun_family; char sun_path[104]; };
struct msghdr {
    void *_Nullable msg_name; socklen_t msg_namelen; struct iovec *_Nullable msg_iov; int msg_iovlen; void *_Nullable msg_control;
    socklen_t msg_controllen; int msg_flags;
};
struct cmsghdr { socklen_t cmsg_len; int cmsg_level, cmsg_type; };
struct linger { int l_onoff, l_linger; };
struct addrinfo {
    int ai_flags, ai_family, ai_socktype, ai_protocol; socklen_t ai_addrlen; char *_Nullable ai_canonname;
    struct sockaddr *_Null_unspecified ai_addr; struct addrinfo *_Null_unspecified ai_next;
};
struct ifaddrs {
    struct ifaddrs *_Null_unspecified ifa_next; char *_Null_unspecified ifa_name; unsigned int ifa_flags;
    struct sockaddr *_Null_unspecified ifa_addr; struct sockaddr *_Null_unspecified ifa_netmask; struct sockaddr *_Null_unspecified ifa_dstaddr;
    void *_Nullable ifa_data;
};
struct pollfd { int fd; short events, revents; };
typedef unsigned int nfds_t;
#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 30
#define PF_UNIX AF_UNIX
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOL_SOCKET 0xffff
#define SO_REUSEADDR 0x0004
#define SO_RCVTIMEO 0x1006
#define SO_SNDTIMEO 0x1005
#define SO_SNDBUF 0x1001
#define SO_RCVBUF 0x1002
#define SO_NWRITE 0x1024
#define SO_ERROR 0x1007
#define SO_LINGER 0x0080
#define SO_NOSIGPIPE 0x1022
#define SOMAXCONN 128
#define MSG_PEEK 0x2
#define MSG_DONTWAIT 0x80
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2
#define IPPROTO_TCP 6
#define IPPROTO_IPV6 41
#define TCP_NODELAY 1
#define IPV6_V6ONLY 27
#define INADDR_LOOPBACK 0x7f000001u
#define INET_ADDRSTRLEN 16
#define INET6_ADDRSTRLEN 46
#define AI_PASSIVE 1
#define AI_NUMERICHOST 4
#define AI_NUMERICSERV 0x1000
#define NI_MAXHOST 1025
#define NI_NUMERICHOST 2
#define POLLIN 0x0001
#define POLLOUT 0x0004
#define POLLERR 0x0008
#define POLLHUP 0x0010
#define POLLNVAL 0x0020
#define IFF_UP 1
#define IFF_LOOPBACK 8
int socket(int, int, int);
int socketpair(int, int, int, int *_Nonnull);
int bind(int, const struct sockaddr *_Null_unspecified, socklen_t);
int listen(int, int);
int accept(int, struct sockaddr *_Nullable, socklen_t *_Nullable);
int connect(int, const struct sockaddr *_Null_unspecified, socklen_t);
int getsockname(int, struct sockaddr *_Nonnull, socklen_t *_Nonnull);
int getpeername(int, struct sockaddr *_Nonnull, socklen_t *_Nonnull);
int setsockopt(int, int, int, const void *_Nullable, socklen_t);
int getsockopt(int, int, int, void *_Nullable, socklen_t *_Nullable);
ssize_t send(int, const void *_Nullable, size_t, int);
ssize_t recv(int, void *_Nullable, size_t, int);
ssize_t sendmsg(int, const struct msghdr *_Nonnull, int);
ssize_t recvmsg(int, struct msghdr *_Nonnull, int);
int shutdown(int, int);
int poll(struct pollfd *_Nullable, nfds_t, int);
const char *_Nullable inet_ntop(int, const void *_Nonnull, char *_Nonnull, socklen_t);
int inet_pton(int, const char *_Nonnull, void *_Nonnull);
uint16_t htons(uint16_t);
uint16_t ntohs(uint16_t);
uint32_t htonl(uint32_t);
uint32_t ntohl(uint32_t);
int getaddrinfo(const char *_Nullable, const char *_Nullable, const struct addrinfo *_Nullable,
    struct addrinfo *_Nullable *_Nonnull);
void freeaddrinfo(struct addrinfo *_Nullable);
const char *_Nonnull gai_strerror(int);
int getnameinfo(const struct sockaddr *_Null_unspecified, socklen_t, char *_Nullable, socklen_t, char *_Nullable, socklen_t, int);
int getifaddrs(struct ifaddrs *_Nullable *_Nonnull);
void freeifaddrs(struct ifaddrs *_Nullable);

typedef unsigned long tcflag_t;
typedef unsigned char cc_t;
typedef unsigned long speed_t;
struct termios { tcflag_t c_iflag, c_oflag, c_cflag, c_lflag; cc_t c_cc[20]; speed_t c_ispeed, c_ospeed; };
struct winsize { unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel; };
#define TCSANOW 0
#define TCSAFLUSH 2
#define ECHO 0x00000008
#define ICANON 0x00000100
#define ECHONL 0x00000010
#define ISIG 0x00000080
#define IEXTEN 0x00000400
#define BRKINT 0x00000002
#define INPCK 0x00000010
#define ISTRIP 0x00000020
#define INLCR 0x00000040
#define IGNCR 0x00000080
#define ICRNL 0x00000100
#define IXON 0x00000200
#define VMIN 16
#define VTIME 17
#define TIOCGWINSZ 0x40087468
int tcgetattr(int, struct termios *_Nonnull);
int tcsetattr(int, int, const struct termios *_Nonnull);

extern const struct in6_addr in6addr_any, in6addr_loopback;
int getpeereid(int, uid_t *_Nonnull, gid_t *_Nonnull);
ssize_t sendto(int, const void *_Nullable, size_t, int, const struct sockaddr *_Nullable, socklen_t);
