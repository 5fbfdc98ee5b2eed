// developer.apple.com/documentation/darwin
@_exported import Darwin

// developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html
public var S_IFMT: mode_t { 0o170000 }
public var S_IFIFO: mode_t { 0o010000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFLNK: mode_t { 0o120000 }
public var S_IFSOCK: mode_t { 0o140000 }

// developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/intro.2.html
public var errno: Int32 {
    get { 0 }
    set {}
}

// developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/open.2.html
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { 0 }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { 0 }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { 0 }

// developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fcntl.2.html
public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { 0 }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { 0 }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32 { 0 }

// developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/ioctl.2.html
public func ioctl(_ fd: Int32, _ request: UInt) -> Int32 { 0 }
public func ioctl(_ fd: Int32, _ request: UInt, _ value: Int32) -> Int32 { 0 }
public func ioctl(_ fd: Int32, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> Int32 { 0 }

// developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/mmap.2.html
public var MAP_FAILED: UnsafeMutableRawPointer! { nil }

// developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/signal.3.html
public var SIG_DFL: sig_t? { nil }
public var SIG_IGN: sig_t? { nil }
public typealias sig_t = @convention(c) (Int32) -> Void

// developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/clock_gettime.3.html
public var CLOCK_REALTIME: clockid_t { get {} }
public var CLOCK_MONOTONIC: clockid_t { get {} }
public var CLOCK_MONOTONIC_RAW: clockid_t { get {} }
public var CLOCK_UPTIME_RAW: clockid_t { get {} }
public var CLOCK_PROCESS_CPUTIME_ID: clockid_t { get {} }
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { get {} }

// developer.apple.com/documentation/foundation/posixerrorcode
public enum POSIXErrorCode: Int32, Sendable {
    case EPERM = 1
    case ENOENT = 2
    case EINTR = 4
    case EIO = 5
    case EBADF = 9
    case ENOMEM = 12
    case EACCES = 13
    case EEXIST = 17
    case EINVAL = 22
    case EMFILE = 24
    case ENOSPC = 28
    case EPIPE = 32
    case EAGAIN = 35
    case EADDRINUSE = 48
    case ECONNRESET = 54
    case ETIMEDOUT = 60
    case ECONNREFUSED = 61
    case ECANCELED = 89
}
