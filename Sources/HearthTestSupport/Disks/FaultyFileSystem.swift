import Foundation
import HearthBase

/// A file system with faults that a test chooses: the Nth call fails with an `errno`, or every byte past a full disk.
///
/// ```swift
/// let disk = FaultyFileSystem()
/// disk.fail(call: 3, errno: EIO)
/// ```
package final class FaultyFileSystem: ForwardingFileSystem {
    /// The kinds of calls.
    package enum Operation: String, Sendable, Hashable, CaseIterable {
        /// Opening for reading only.
        case openExisting
        /// Opening in a mode that may create the file.
        case open
        case read, write, allocate, truncate, synchronize, synchronizeFolder, rename, removeFile, removeFolder
        case makeFolder, makeLink, makeHardLink

        /// Whether the call can change the disk; without a named kind, only these calls are counted.
        package var isMutating: Bool { self != .openExisting && self != .read }
    }

    /// A recorded call.
    package struct Call: Sendable, Hashable {
        package let operation: Operation
        package let path: Path
    }

    private struct Fault {
        var call: Int
        let operation: Operation?
        let number: Int32
        let stays: Bool
        let tears: Bool
    }

    /// The fault of a call.
    private enum Fate {
        case passes
        case fails(FileError, tears: Bool)
    }

    private struct State {
        var calls: [Call] = []
        var fault: Fault?
        var bytesLeft: UInt64?
    }

    package let base: any FileSystem
    private let state = Locked(State())

    /// Makes a file system without faults.
    package init(_ base: any FileSystem = LocalFileSystem()) { self.base = base }

    // MARK: - Setting faults

    /// Every call, in order, with the failed ones.
    package var calls: [Call] { state.withLock { $0.calls } }

    /// The calls that may change the disk, in order, with the failed ones.
    package var mutations: [Call] { state.withLock { $0.calls.filter(\.operation.isMutating) } }

    /// Makes a later call fail. It has no effect unless it tears.
    /// - Parameters:
    ///   - call: the number of the call, counted from 1, among the mutating calls or those of the named kind.
    ///   - stays: whether every later such call also fails, as on a broken disk.
    ///   - tears: whether a failed write has written the first half of its bytes.
    package func fail(
        call: Int, of operation: Operation? = nil, errno number: Int32, stays: Bool = false, tears: Bool = false
    ) {
        let fault = Fault(call: call, operation: operation, number: number, stays: stays, tears: tears)
        state.withLock { $0.fault = fault }
    }

    /// Lets files grow by at most `bytes`. A write past that limit writes the part that fits and fails with `ENOSPC`.
    package func fillDisk(after bytes: UInt64) { state.withLock { $0.bytesLeft = bytes } }

    /// Removes all faults.
    package func heal() {
        state.withLock {
            $0.fault = nil
            $0.bytesLeft = nil
        }
    }

    private func fate(_ operation: Operation, _ path: Path) -> Fate {
        state.withLock { state in
            state.calls.append(Call(operation: operation, path: path))
            guard var fault = state.fault else { return .passes }
            guard fault.operation == operation || fault.operation == nil && operation.isMutating else {
                return .passes
            }
            fault.call -= 1
            state.fault = fault
            guard fault.call == 0 || fault.call < 0 && fault.stays else { return .passes }
            return .fails(FileError(errno: fault.number, doing: operation.rawValue, path: path), tears: fault.tears)
        }
    }

    private func note(_ operation: Operation, _ path: Path) throws {
        if case .fails(let error, _) = fate(operation, path) { throw error }
    }

    /// Takes up to `wanted` bytes of the disk's free space.
    private func take(_ wanted: UInt64) -> UInt64 {
        state.withLock { state in
            guard let left = state.bytesLeft else { return wanted }
            let taken = min(left, wanted)
            state.bytesLeft = left - taken
            return taken
        }
    }

    // MARK: - The calls

    package func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        try note(mode == .read ? .openExisting : .open, path)
        return try base.open(path, mode, permissions: permissions)
    }

    package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        try note(.read, file.path)
        return try base.read(file, into: buffer, at: offset)
    }

    package func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        if case .fails(let error, let tears) = fate(.write, file.path) {
            let half = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)])
            if tears { try base.write(file, half, at: offset) }
            throw error
        }
        let size = try base.status(of: file).size
        let end = offset + UInt64(bytes.count)
        let growth = end > size ? end - size : 0
        let missing = growth - take(growth)
        let count = bytes.count - min(bytes.count, Int(missing))
        try base.write(file, UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
        if missing > 0 { throw FileError(errno: ENOSPC, doing: "write", path: file.path) }
    }

    package func allocate(_ file: OpenFile, size: UInt64) throws {
        try note(.allocate, file.path)
        let present = try base.status(of: file).size
        let growth = size > present ? size - present : 0
        let fits = state.withLock { state in
            guard let left = state.bytesLeft else { return true }
            guard left >= growth else { return false }
            state.bytesLeft = left - growth
            return true
        }
        guard fits else { throw FileError(errno: ENOSPC, doing: "reserve space for", path: file.path) }
        try base.allocate(file, size: size)
    }

    package func truncate(_ file: OpenFile, to size: UInt64) throws {
        try note(.truncate, file.path)
        try base.truncate(file, to: size)
    }

    package func synchronize(_ file: OpenFile) throws {
        try note(.synchronize, file.path)
        try base.synchronize(file)
    }

    package func synchronizeFolder(_ path: Path) throws {
        try note(.synchronizeFolder, path)
        try base.synchronizeFolder(path)
    }

    package func rename(_ source: Path, to target: Path) throws {
        try note(.rename, target)
        try base.rename(source, to: target)
    }

    package func removeFile(_ path: Path) throws {
        try note(.removeFile, path)
        try base.removeFile(path)
    }

    package func removeFolder(_ path: Path) throws {
        try note(.removeFolder, path)
        try base.removeFolder(path)
    }

    package func makeFolder(_ path: Path, permissions: UInt32) throws {
        try note(.makeFolder, path)
        try base.makeFolder(path, permissions: permissions)
    }

    package func makeLink(at path: Path, to target: String) throws {
        try note(.makeLink, path)
        try base.makeLink(at: path, to: target)
    }

    package func makeHardLink(at path: Path, to target: Path) throws {
        try note(.makeHardLink, path)
        try base.makeHardLink(at: path, to: target)
    }
}

extension FaultyFileSystem {
    /// The number of recorded calls that a fault of this kind counts.
    package func callCount(of operation: Operation?) -> Int {
        operation.map { operation in calls.count { $0.operation == operation } } ?? mutations.count
    }
}
