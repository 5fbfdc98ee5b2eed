import Foundation
import HearthBase

/// The decisions of a gateway: one JSON object a line, without texts of people and without secrets.
///
/// ```json
/// {"time":"2026-11-25T14:00:00Z","request":"r1-42","key":"3f9c2a1b","action":"address","outcome":"allowed",
///  "object":"models/x.gguf","seconds":900}
/// ```
/// The file is opened for each line, so that a program that rotates logs may rename it at any time. Before it grows beyond
/// 16 MiB it is renamed to `audit.log.1`, which replaces an earlier one. Refusals without a known key, which anyone can
/// cause, are at most 60 a minute: they cannot push the decisions about keys out of the two files.
package actor AuditLog {
    /// One decision.
    struct Entry: Sendable, Hashable, Encodable {
        enum Action: String, Sendable, Encodable { case address, chat }

        /// The end of a request, or of its first step.
        enum Outcome: String, Sendable, Encodable {
            /// An address was given, or a turn may begin.
            case allowed
            case refused
            /// The turn brought a token: its credit is spent.
            case settled
            /// Nothing came before the first token: the credit is given back.
            case returned
        }

        var time: Date?
        var action: Action
        var outcome: Outcome
        var request: String
        /// The id of the key; `nil` for a request without a known one.
        var key: String?
        /// The reason of a refusal.
        var code: String?
        /// The file's name in the bucket.
        var object: String?
        /// The life of the address.
        var seconds: Int?
        /// The credits left.
        var credits: Int?
        /// The refusals without a known key that were not written since the last one.
        var unwritten: Int?
    }

    /// The most bytes of a file.
    private static let limit = 16 << 20
    /// The lines about requests without a known key.
    private static let strangers = {
        var bounds = CallerLimits.Bounds()
        (bounds.atOnce, bounds.perMinute, bounds.burst) = (.max, 60, 60)
        return bounds
    }()

    private let executor = ThreadExecutor(name: "hearth.audit")
    private let file: Path?
    private let time: TimeSource
    private let limit: Int
    private let clock: Stopwatch
    private var strangers = CallerLimits(AuditLog.strangers)
    private var unwritten = 0
    private var hasFailed = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// A log in a file that only its owner can read; `nil` writes to standard error.
    package init(_ file: Path?, time: TimeSource) { self.init(file, time: time, limit: Self.limit) }

    init(_ file: Path?, time: TimeSource, limit: Int) {
        self.file = file
        self.time = time
        self.limit = limit
        clock = time.stopwatch()
    }

    /// Opens the file once, so that no gateway begins without its log.
    /// - Throws: ``ServerError`` with `permission`.
    package func check() throws {
        let error = append(Data())
        guard error != 0, let file else { return }
        var context = ErrorContext(
            file: file.string, remedy: "Check the folder, who owns it and its access rights, or name another file.")
        context.systemError = error
        throw ServerError(.permission, "the audit log \(file) cannot be written", context: context)
    }

    /// Adds a line. A line that cannot be written is reported in the log, once until the next success.
    func record(_ entry: Entry) {
        // The entry holds texts and numbers, which can always be encoded.
        var entry = entry
        entry.time = time.now
        if entry.key == nil {
            guard strangers.begin("", at: clock.elapsed) == nil else {
                unwritten += 1
                return
            }
            entry.unwritten = unwritten > 0 ? unwritten : nil
            unwritten = 0
        }
        guard var line = try? JSON.data(entry) else { return }
        line.append(UInt8(ascii: "\n"))
        let error = append(line)
        if error != 0, !hasFailed {
            Log.write(.error, "gateway", "the audit log cannot be written", [.count("errno", error)])
        }
        hasFailed = error != 0
    }

    /// Appends bytes in one call, so that the lines of several processes do not mix.
    /// - Returns: 0, or the number of the failed call's error.
    private func append(_ line: Data) -> Int32 {
        var descriptor = STDERR_FILENO
        if let file {
            descriptor = Self.open(file)
            guard descriptor >= 0 else { return errno }
            if rotates(descriptor, before: line.count, file) {
                close(descriptor)
                descriptor = Self.open(file)
                guard descriptor >= 0 else { return errno }
            }
        }
        let written = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let error = written == line.count ? 0 : (written < 0 ? errno : EIO)
        if file != nil { close(descriptor) }
        return error
    }

    private static func open(_ file: Path) -> Int32 {
        Foundation.open(file.string, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }

    /// Renames a file that would grow beyond its limit, unless another process has renamed it already. Other kinds of
    /// files, such as terminals and pipes, are never renamed.
    /// - Returns: whether the name is free for another file.
    private func rotates(_ descriptor: Int32, before count: Int, _ file: Path) -> Bool {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            Int(facts.st_size) + count > limit, facts.st_size > 0
        else { return false }
        // Two processes that find the same file full rename it once. The lock ends with the descriptor.
        guard flock(descriptor, LOCK_EX) == 0 else { return false }
        var named = stat()
        guard lstat(file.string, &named) == 0, named.st_ino == facts.st_ino, named.st_dev == facts.st_dev else {
            return true
        }
        return rename(file.string, file.string + ".1") == 0
    }
}
