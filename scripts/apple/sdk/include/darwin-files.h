// Files, folders, errors and time: sys/types.h, sys/stat.h, fcntl.h, unistd.h, dirent.h, sys/errno.h, sys/statvfs.h, time.h.
#pragma once

typedef int32_t dev_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef uint64_t ino_t;
typedef int64_t off_t;
typedef int32_t blksize_t;
typedef int64_t blkcnt_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef uint32_t id_t;
typedef int32_t pid_t;
typedef long ssize_t;
typedef long time_t;
typedef int32_t suseconds_t;
typedef unsigned long clock_t;
typedef unsigned int useconds_t;
typedef unsigned int u_int;
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned long u_long;
typedef uint32_t u_int32_t;
typedef uint64_t u_int64_t;
typedef char *caddr_t;
typedef unsigned int fsblkcnt_t;
typedef unsigned int fsfilcnt_t;

struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
struct stat {
    dev_t st_dev; mode_t st_mode; nlink_t st_nlink; ino_t st_ino; uid_t st_uid; gid_t st_gid; dev_t st_rdev;
    struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    off_t st_size; blkcnt_t st_blocks; blksize_t st_blksize; uint32_t st_flags, st_gen; int32_t st_lspare; int64_t st_qspare[2];
};
struct statvfs {
    unsigned long f_bsize, f_frsize; fsblkcnt_t f_blocks, f_bfree, f_bavail; fsfilcnt_t f_files, f_ffree, f_favail;
    unsigned long f_fsid, f_flag, f_namemax;
};
struct statfs {
    uint32_t f_bsize; int32_t f_iosize; uint64_t f_blocks, f_bfree, f_bavail, f_files, f_ffree; int32_t f_fsid[2]; uid_t f_owner;
    uint32_t f_type, f_flags, f_fssubtype; char f_fstypename[16], f_mntonname[1024], f_mntfromname[1024]; uint32_t f_reserved[8];
};
struct dirent { ino_t d_ino; uint64_t d_seekoff; uint16_t d_reclen, d_namlen; uint8_t d_type; char d_name[1024]; };
struct flock { off_t l_start, l_len; pid_t l_pid; short l_type, l_whence; };
struct radvisory { off_t ra_offset; int ra_count; };
struct iovec { void *_Nullable iov_base; size_t iov_len; };
typedef struct { int _flag; } DIR;
typedef struct __sFILE FILE;
extern FILE *_Nonnull __stdinp, *_Nonnull __stdoutp, *_Nonnull __stderrp;
#define stdin __stdinp
#define stdout __stdoutp
#define stderr __stderrp

int *_Nonnull __error(void);
#define errno (*__error())
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define ENOEXEC 8
#define EBADF 9
#define ECHILD 10
#define EDEADLK 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define EXDEV 18
#define ENODEV 19
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOTTY 25
#define ETXTBSY 26
#define EFBIG 27
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define EMLINK 31
#define EPIPE 32
#define EDOM 33
#define ERANGE 34
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define EINPROGRESS 36
#define EALREADY 37
#define ENOTSOCK 38
#define EMSGSIZE 40
#define ENOTSUP 45
#define EADDRINUSE 48
#define EADDRNOTAVAIL 49
#define ENETDOWN 50
#define ENETUNREACH 51
#define ECONNABORTED 53
#define ECONNRESET 54
#define ENOBUFS 55
#define EISCONN 56
#define ENOTCONN 57
#define ESHUTDOWN 58
#define ETIMEDOUT 60
#define ECONNREFUSED 61
#define ELOOP 62
#define ENAMETOOLONG 63
#define EHOSTUNREACH 65
#define ENOTEMPTY 66
#define EDQUOT 69
#define ESTALE 70
#define ENOLCK 77
#define ENOSYS 78
#define EOVERFLOW 84
#define ECANCELED 89
#define EILSEQ 92
#define EPROTO 100
#define EOPNOTSUPP 102

#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x0004
#define O_APPEND 0x0008
#define O_NOFOLLOW 0x0100
#define O_CREAT 0x0200
#define O_TRUNC 0x0400
#define O_EXCL 0x0800
#define O_DIRECTORY 0x100000
#define O_CLOEXEC 0x1000000
#define F_DUPFD 0
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_SETLK 8
#define F_RDADVISE 44
#define F_NOCACHE 48
#define F_GETPATH 50
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define FD_CLOEXEC 1
#define F_RDLCK 1
#define F_UNLCK 2
#define F_WRLCK 3
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define AT_FDCWD -2
#define AT_SYMLINK_NOFOLLOW 0x0020
#define AT_REMOVEDIR 0x0080
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define SEEK_HOLE 3
#define SEEK_DATA 4
#define R_OK 4
#define W_OK 2
#define X_OK 1
#define F_OK 0
#define S_IFMT 0170000
#define S_IFIFO 0010000
#define S_IFCHR 0020000
#define S_IFDIR 0040000
#define S_IFBLK 0060000
#define S_IFREG 0100000
#define S_IFLNK 0120000
#define S_IFSOCK 0140000
#define S_IRWXU 0000700
#define S_IRUSR 0000400
#define S_IWUSR 0000200
#define S_IXUSR 0000100
#define S_IRWXG 0000070
#define S_IRWXO 0000007
#define S_IXGRP 0000010
#define S_IXOTH 0000001
#define S_IWGRP 0000020
#define S_IWOTH 0000002
#define DT_UNKNOWN 0
#define DT_DIR 4
#define DT_REG 8
#define DT_LNK 10
#define RENAME_EXCL 0x00000004
#define PATH_MAX 1024
#define NAME_MAX 255
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define _SC_PAGESIZE 29
#define _SC_NPROCESSORS_ONLN 58
#define _SC_PHYS_PAGES 200
#define POSIX_FADV_DONTNEED 4

int open(const char *_Nonnull, int, ...);
int openat(int, const char *_Nonnull, int, ...);
int fcntl(int, int, ...);
int flock(int, int);
int ioctl(int, unsigned long, ...);
int close(int);
int dup(int);
int dup2(int, int);
int pipe(int *_Nonnull);
ssize_t read(int, void *_Nullable, size_t);
ssize_t write(int, const void *_Nullable, size_t);
ssize_t pread(int, void *_Nullable, size_t, off_t);
ssize_t pwrite(int, const void *_Nullable, size_t, off_t);
ssize_t readv(int, const struct iovec *_Nonnull, int);
ssize_t writev(int, const struct iovec *_Nonnull, int);
off_t lseek(int, off_t, int);
int ftruncate(int, off_t);
int fsync(int);
int rename(const char *_Nonnull, const char *_Nonnull);
int renamex_np(const char *_Nonnull, const char *_Nonnull, unsigned int);
int link(const char *_Nonnull, const char *_Nonnull);
int unlink(const char *_Nonnull);
int unlinkat(int, const char *_Nonnull, int);
int mkdir(const char *_Nonnull, mode_t);
int rmdir(const char *_Nonnull);
int symlink(const char *_Nonnull, const char *_Nonnull);
ssize_t readlink(const char *_Nonnull, char *_Nonnull, size_t);
char *_Nullable realpath(const char *_Nonnull, char *_Nullable);
char *_Nullable getcwd(char *_Nullable, size_t);
int access(const char *_Nonnull, int);
int chmod(const char *_Nonnull, mode_t);
int fchmod(int, mode_t);
mode_t umask(mode_t);
int stat(const char *_Nonnull, struct stat *_Nonnull);
int lstat(const char *_Nonnull, struct stat *_Nonnull);
int fstat(int, struct stat *_Nonnull);
int fstatat(int, const char *_Nonnull, struct stat *_Nonnull, int);
int utimensat(int, const char *_Nonnull, const struct timespec *_Nonnull, int);
int futimens(int, const struct timespec *_Nonnull);
int statvfs(const char *_Nonnull, struct statvfs *_Nonnull);
int fstatvfs(int, struct statvfs *_Nonnull);
int statfs(const char *_Nonnull, struct statfs *_Nonnull);
int fstatfs(int, struct statfs *_Nonnull);
DIR *_Nullable opendir(const char *_Nonnull);
DIR *_Nullable fdopendir(int);
struct dirent *_Nullable readdir(DIR *_Nonnull);
int closedir(DIR *_Nonnull);
int mkstemp(char *_Nonnull);
int isatty(int);
long sysconf(int);
int usleep(useconds_t);
int fflush(FILE *_Nullable);
FILE *_Nullable fopen(const char *_Nonnull, const char *_Nonnull);
int fclose(FILE *_Nonnull);
int fileno(FILE *_Nonnull);
size_t fread(void *_Nonnull, size_t, size_t, FILE *_Nonnull);
size_t fwrite(const void *_Nonnull, size_t, size_t, FILE *_Nonnull);
int fputs(const char *_Nonnull, FILE *_Nonnull);
int fprintf(FILE *_Nonnull, const char *_Nonnull, ...);
int printf(const char *_Nonnull, ...);
int snprintf(char *_Nullable, size_t, const char *_Nonnull, ...);
int vsnprintf(char *_Nullable, size_t, const char *_Nonnull, va_list);
int fgetc(FILE *_Nonnull);
char *_Nullable fgets(char *_Nonnull, int, FILE *_Nonnull);
void perror(const char *_Nullable);
char *_Nonnull strerror(int);
int strerror_r(int, char *_Nonnull, size_t);

struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; long tm_gmtoff; char *_Nullable tm_zone;
};
typedef enum { _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC_RAW = 4, _CLOCK_UPTIME_RAW = 8, _CLOCK_MONOTONIC = 6,
    _CLOCK_PROCESS_CPUTIME_ID = 12, _CLOCK_THREAD_CPUTIME_ID = 16 } clockid_t;
int clock_gettime(clockid_t, struct timespec *_Nonnull);
int nanosleep(const struct timespec *_Nonnull, struct timespec *_Nullable);
time_t time(time_t *_Nullable);
time_t timegm(struct tm *_Nonnull);
time_t mktime(struct tm *_Nonnull);
struct tm *_Nullable gmtime_r(const time_t *_Nonnull, struct tm *_Nonnull);
struct tm *_Nullable localtime_r(const time_t *_Nonnull, struct tm *_Nonnull);
int gettimeofday(struct timeval *_Nullable, void *_Nullable);

// iconv.h, whose type libxml2 names.
typedef void *iconv_t;

// sys/select.h and wchar.h.
typedef struct { int32_t fds_bits[32]; } fd_set;
#define LC_ALL 0
#define LC_CTYPE 2
#define MB_CUR_MAX 4
char *_Nullable setlocale(int, const char *_Nullable);

// unistd.h and sys/param.h, for the server on macOS.
#define MAXPATHLEN 1024
#define O_NOCTTY 0x20000
int fchown(int, uid_t, gid_t);
