import Foundation
import HearthBase

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A file system that ends its own process with `SIGKILL` at a chosen call, so that no handler, `defer` or destructor
/// runs. Only for child processes of tests.
package final class KillingFileSystem: ForwardingFileSystem {
    /// A call, named by its operation and its file: `rename journal`. Names that differ in every run are named only by
    /// their meaning: `write journal.tmp`.
    package struct Step: Sendable, Hashable, CustomStringConvertible {
        package let operation: FaultyFileSystem.Operation
        package let name: String

        /// Makes a step.
        package init(_ operation: FaultyFileSystem.Operation, _ name: String) {
            self.operation = operation
            self.name = name
        }

        init(_ operation: FaultyFileSystem.Operation, on path: Path) {
            self.operation = operation
            let last = path.lastComponent
            if let mark = last.range(of: Path.temporaryMark) {
                name = Self.shown(last[..<mark.lowerBound].drop { $0 == "." }) + ".tmp"
            } else {
                name = Self.shown(last[...])
            }
        }

        /// Replaces digests and tokens, which differ in every run.
        private static func shown(_ name: Substring) -> String {
            guard name.allSatisfy(\.isHexDigit) else { return String(name) }
            return switch name.utf8.count {
            case 64: "transfer"
            case 32: "mark"
            case 16: "artifact"
            default: String(name)
            }
        }

        /// Reads the text of ``description``.
        package init?(_ text: some StringProtocol) {
            let words = text.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let operation = FaultyFileSystem.Operation(rawValue: String(words[0])) else {
                return nil
            }
            self.init(operation, String(words[1]))
        }

        package var description: String { "\(operation.rawValue) \(name)" }
    }

    /// The moment within a call at which the process ends.
    package enum Moment: String, Sendable, Hashable, CaseIterable {
        case before
        /// Half of the bytes of a write are written; the same as `before` for other calls.
        case during
        case after
    }

    /// The end of the process at a chosen call.
    package struct Kill: Sendable, Hashable {
        package var step: Step
        /// The number of the call among equal ones, counted from 1.
        package var occurrence: Int
        package var moment: Moment

        /// Makes an end at the given call.
        package init(_ step: Step, occurrence: Int, _ moment: Moment) {
            self.step = step
            self.occurrence = occurrence
            self.moment = moment
        }
    }

    package let base: any FileSystem
    private let kill: Kill?
    private let left: Locked<Int>
    private let done: @Sendable (Step, Range<UInt64>?) -> Void

    /// Makes a file system over `base`.
    /// - Parameters:
    ///   - kill: the call at which the process ends; `nil` for none.
    ///   - done: called after every step that may change the disk, with the written bytes of a write.
    package init(
        _ base: any FileSystem = LocalFileSystem(), kill: Kill?,
        done: @escaping @Sendable (Step, Range<UInt64>?) -> Void = { _, _ in }
    ) {
        self.base = base
        self.kill = kill
        self.done = done
        left = Locked(kill?.occurrence ?? 0)
    }

    private func perform<Result>(
        _ operation: FaultyFileSystem.Operation, _ path: Path, bytes: Range<UInt64>? = nil,
        half: () throws -> Void = {}, _ body: () throws -> Result
    ) throws -> Result {
        let step = Step(operation, on: path)
        var isEnd = false
        if let kill, kill.step == step {
            isEnd = left.withLock { left in
                left -= 1
                return left == 0
            }
        }
        if isEnd, kill?.moment != .after {
            if kill?.moment == .during { try half() }
            Self.die()
        }
        let result = try body()
        if isEnd { Self.die() }
        if operation.isMutating { done(step, bytes) }
        return result
    }

    private static func die() -> Never {
        raise(SIGKILL)
        // Another thread of the ending process may reach this line.
        while true { pause() }
    }

    // MARK: - The calls

    package func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        try perform(mode == .read ? .openExisting : .open, path) {
            try base.open(path, mode, permissions: permissions)
        }
    }

    package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        try perform(.read, file.path) { try base.read(file, into: buffer, at: offset) }
    }

    package func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        let half = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)])
        try perform(
            .write, file.path, bytes: offset..<offset + UInt64(bytes.count),
            half: { try base.write(file, half, at: offset) }
        ) { try base.write(file, bytes, at: offset) }
    }

    package func allocate(_ file: OpenFile, size: UInt64) throws {
        try perform(.allocate, file.path) { try base.allocate(file, size: size) }
    }

    package func truncate(_ file: OpenFile, to size: UInt64) throws {
        try perform(.truncate, file.path) { try base.truncate(file, to: size) }
    }

    package func synchronize(_ file: OpenFile) throws {
        try perform(.synchronize, file.path) { try base.synchronize(file) }
    }

    package func synchronizeFolder(_ path: Path) throws {
        try perform(.synchronizeFolder, path) { try base.synchronizeFolder(path) }
    }

    package func rename(_ source: Path, to target: Path) throws {
        try perform(.rename, target) { try base.rename(source, to: target) }
    }

    package func removeFile(_ path: Path) throws {
        try perform(.removeFile, path) { try base.removeFile(path) }
    }

    package func removeFolder(_ path: Path) throws {
        try perform(.removeFolder, path) { try base.removeFolder(path) }
    }

    package func makeFolder(_ path: Path, permissions: UInt32) throws {
        try perform(.makeFolder, path) { try base.makeFolder(path, permissions: permissions) }
    }

    package func makeLink(at path: Path, to target: String) throws {
        try perform(.makeLink, path) { try base.makeLink(at: path, to: target) }
    }

    package func makeHardLink(at path: Path, to target: Path) throws {
        try perform(.makeHardLink, path) { try base.makeHardLink(at: path, to: target) }
    }
}
