import Foundation

extension Path: ErrorDomain {}

/// A file operation that the system refused.
public typealias FileError = HearthError<Path>

extension ErrorCode<Path> {
    /// The file or folder does not exist (`ENOENT`).
    public static var notFound: Self { "file-not-found" }
    /// The user has no permission (`EACCES`, `EPERM`).
    public static var permissionDenied: Self { "permission-denied" }
    /// The file system is mounted read-only (`EROFS`).
    public static var readOnly: Self { "read-only" }
    /// The disk or quota is full (`ENOSPC`, `EDQUOT`).
    public static var diskFull: Self { "disk-full" }
    /// A part of the path is not a folder (`ENOTDIR`).
    public static var notADirectory: Self { "not-a-folder" }
    /// The target exists already (`EEXIST`, `ENOTEMPTY`).
    public static var alreadyExists: Self { "file-exists" }
    /// Any other failure of the system.
    public static var ioFailure: Self { "io-failure" }
    /// Another process holds the lock of a file of settings, keys or credits for too long.
    public static var settingsBusy: Self { "settings-busy" }
}

extension HearthError where Domain == Path {
    /// The error for a failed system call.
    /// - Parameters:
    ///   - number: the `errno` of the call.
    ///   - doing: the operation, such as `write`.
    ///   - path: the file or folder of the operation.
    public init(errno number: Int32, doing: String, path: Path) {
        let (code, reason, remedy): (ErrorCode<Path>, String, String?) =
            switch number {
            case ENOENT: (.notFound, "no such file or folder", nil)
            case EACCES, EPERM: (.permissionDenied, "permission denied", "Check who owns it and its access rights.")
            case EROFS:
                (
                    .readOnly, "the file system is read-only",
                    "Choose another folder, or mount it writable."
                )
            case ENOSPC, EDQUOT:
                (
                    .diskFull, "no space left on the device",
                    "Free some space and try again; nothing already received is lost."
                )
            case ENOTDIR: (.notADirectory, "a part of the path is not a folder", "Choose another folder.")
            case EEXIST, ENOTEMPTY: (.alreadyExists, "something is there already", nil)
            default: (.ioFailure, String(cString: strerror(number)), nil)
            }
        self.init(
            code, "cannot \(doing) \(path): \(reason)",
            context: ErrorContext(file: path.string, found: "errno \(number)", remedy: remedy))
        context.systemError = number
    }

    /// Whether the system call failed with one of these values of `errno`.
    package func isSystemError(_ numbers: Int32...) -> Bool { context.systemError.map(numbers.contains) ?? false }
}
