import Foundation
import HearthBase

/// The decisions of a gateway: one JSON object a line, without texts of people and without secrets.
///
/// ```json
/// {"time":"2026-11-25T14:00:00Z","request":"r1-42","key":"3f9c2a1b","action":"address","outcome":"allowed",
///  "object":"models/x.gguf","seconds":900}
/// ```
/// The file is opened for each line, so that a program that rotates logs may rename it at any time.
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
    }

    private let executor = ThreadExecutor(name: "hearth.audit")
    private let file: Path?
    private let time: TimeSource
    private var hasFailed = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// A log in a file that only its owner can read; `nil` writes to standard error.
    package init(_ file: Path?, time: TimeSource) {
        self.file = file
        self.time = time
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
            descriptor = open(file.string, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { return errno }
        }
        let written = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let error = written == line.count ? 0 : (written < 0 ? errno : EIO)
        if file != nil { close(descriptor) }
        return error
    }
}
