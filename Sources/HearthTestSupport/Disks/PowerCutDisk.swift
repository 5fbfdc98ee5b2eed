import Foundation
import HearthBase

/// A folder whose changes are all logged, so that a test can recreate its state after a power cut.
///
/// Files are written through this type while they have a name. The contents of the folder at the beginning count as
/// synchronised. The bytes are kept in memory: some megabytes are fine, a real model is too large.
///
/// ```swift
/// let disk = try PowerCutDisk(root: folder.path)
/// try disk.replaceContents(of: disk.root.appending("state.json"), with: data)
/// for operation in 0...disk.operationCount {
///     for policy in PowerCutDisk.Policy.allCases {
///         let after = try TemporaryFolder()
///         try disk.rebuild(after: operation, policy: policy, into: after.path)
///         // open `after.path` with the product
///     }
/// }
/// ```
package final class PowerCutDisk: ForwardingFileSystem {
    /// The unsynchronised changes that survive. A file system may do any of these.
    package enum Policy: Sendable, Hashable, CaseIterable {
        /// Files and folders as of their last synchronisation.
        case onlySynced
        /// All changes up to the power cut.
        case everything
        /// Names and links as of the cut, files as of their last synchronisation: empty if there was none.
        case namesWithoutData
        /// As ``namesWithoutData``, but files have their length at the cut, with zeros in place of the missing bytes.
        case namesWithZeros
        /// Each folder and each sector of 512 bytes as of the cut or of its last synchronisation: a later write may
        /// survive while an earlier one does not. The same in every run.
        case scattered
    }

    /// The folder of this disk.
    package let root: Path
    package let base: any FileSystem = LocalFileSystem()

    private struct State {
        var log: [DiskChange] = []
        /// The node of each file, by its identity on the real disk.
        var nodes: [FileIdentity: Int] = [:]
        var nextNode: Int
        /// The number of synchronisations until one fails.
        var synchronizationsLeft: Int?
    }

    private let initial: DiskModel
    private let state: Locked<State>

    /// Makes a disk of the existing folder `root` and its contents.
    package init(root: Path) throws {
        self.root = try Self.resolve(root)
        var model = DiskModel()
        let nodes = try model.load(self.root)
        initial = model
        state = Locked(State(nodes: nodes, nextNode: model.nextNode))
    }

    /// The number of changes and synchronisations so far.
    package var operationCount: Int { state.withLock { $0.log.count } }

    /// The log as text, such as `rename a/.x.tmp-1 -> a/x`.
    package var operations: [String] { state.withLock { $0.log.map(\.description) } }

    /// Recreates the disk in an existing empty folder, as a power cut right after `operation` operations could leave
    /// it.
    package func rebuild(after operation: Int, policy: Policy, into folder: Path) throws {
        var model = initial
        for change in state.withLock({ $0.log.prefix(operation) }) { try model.apply(change) }
        try model.write(into: folder, policy: policy, seed: UInt64(operation))
    }

    /// Makes a later synchronisation of a file fail with `EIO`, counted from 1, and lose the file's changes. As on
    /// Linux, the next one succeeds without them.
    package func failToSynchronize(call: Int) { state.withLock { $0.synchronizationsLeft = call } }

    // MARK: - The calls

    package func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        guard mode != .read else { return try base.open(path, mode, permissions: permissions) }
        return try change { state in
            let isNew = try base.status(at: path) == nil
            let name = try relative(path)
            let file = try base.open(path, mode, permissions: permissions)
            if isNew {
                let node = state.nextNode
                state.nextNode += 1
                state.nodes[try base.status(of: file).identity] = node
                state.log.append(.create(name, node: node, permissions: permissions))
            }
            return file
        }
    }

    package func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        try change { state in
            try base.write(file, bytes, at: offset)
            state.log.append(.write(node: try node(file, state), offset: Int(offset), bytes: [UInt8](bytes)))
        }
    }

    package func allocate(_ file: OpenFile, size: UInt64) throws {
        try change { state in
            let before = try base.status(of: file).size
            try base.allocate(file, size: size)
            if size > before { state.log.append(.resize(node: try node(file, state), size: Int(size))) }
        }
    }

    package func truncate(_ file: OpenFile, to size: UInt64) throws {
        try change { state in
            try base.truncate(file, to: size)
            state.log.append(.resize(node: try node(file, state), size: Int(size)))
        }
    }

    package func synchronize(_ file: OpenFile) throws {
        try change { state in
            state.synchronizationsLeft = state.synchronizationsLeft.map { $0 - 1 }
            if state.synchronizationsLeft == 0 {
                state.log.append(.failToSynchronize(node: try node(file, state)))
                throw FileError(errno: EIO, doing: "synchronize", path: file.path)
            }
            try base.synchronize(file)
            state.log.append(.synchronize(node: try node(file, state)))
        }
    }

    package func synchronizeFolder(_ path: Path) throws {
        try change { state in
            try base.synchronizeFolder(path)
            // Folders above the root are synchronised already.
            guard let name = Self.below(root, try Self.resolve(path)) else { return }
            state.log.append(.synchronizeFolder(name))
        }
    }

    package func rename(_ source: Path, to target: Path) throws {
        try change { state in
            let (from, to) = (try relative(source), try relative(target))
            let replaced = from == to ? nil : Self.lastName(target)
            try base.rename(source, to: target)
            if let replaced { state.nodes[replaced] = nil }
            state.log.append(.rename(from, to: to))
        }
    }

    package func removeFile(_ path: Path) throws {
        try change { state in
            guard try base.status(at: path, followLinks: false) != nil else { return try base.removeFile(path) }
            let name = try relative(path)
            let removed = Self.lastName(path)
            try base.removeFile(path)
            if let removed { state.nodes[removed] = nil }
            state.log.append(.remove(name))
        }
    }

    package func removeFolder(_ path: Path) throws {
        try change { state in
            let name = try relative(path)
            try base.removeFolder(path)
            state.log.append(.remove(name))
        }
    }

    package func makeFolder(_ path: Path, permissions: UInt32) throws {
        try change { state in
            let name = try relative(path)
            try base.makeFolder(path, permissions: permissions)
            state.log.append(.makeFolder(name, node: state.nextNode, permissions: permissions))
            state.nextNode += 1
        }
    }

    package func makeLink(at path: Path, to target: String) throws {
        try change { state in
            let name = try relative(path)
            try base.makeLink(at: path, to: target)
            state.log.append(.makeLink(name, node: state.nextNode, target: target))
            state.nextNode += 1
        }
    }

    package func makeHardLink(at path: Path, to target: Path) throws {
        try change { state in
            let (name, existing) = (try relative(path), try relative(target))
            try base.makeHardLink(at: path, to: target)
            state.log.append(.makeHardLink(name, to: existing))
        }
    }

    // MARK: - Names

    /// The change and its line in the log are one step, so that the log has the actual order.
    private func change<Result: Sendable>(_ body: (inout State) throws -> Result) throws -> Result {
        try state.withLock(body)
    }

    private func node(_ file: OpenFile, _ state: State) throws -> Int {
        guard let node = state.nodes[try base.status(of: file).identity] else {
            throw FileError(errno: EXDEV, doing: "log a change of", path: file.path)
        }
        return node
    }

    /// The file whose only name is `path`. The real disk may give its inode to the next file, which a caller may write
    /// past this disk. A later change with this inode must then be an error, and not a change of the old file.
    private static func lastName(_ path: Path) -> FileIdentity? {
        var status = stat()
        guard lstat(path.string, &status) == 0, status.st_nlink == 1 else { return nil }
        return FileIdentity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The names from the root to `path`, with symbolic links in the folders resolved.
    private func relative(_ path: Path) throws -> [String] {
        guard let folder = Self.below(root, try Self.resolve(path.parent)) else {
            throw FileError(errno: EXDEV, doing: "change, outside the disk under test,", path: path)
        }
        return folder + [path.lastComponent]
    }

    private static func below(_ root: Path, _ path: Path) -> [String]? {
        if path == root { return [] }
        guard path.string.hasPrefix(root.string + "/") else { return nil }
        return path.string.dropFirst(root.string.count + 1).split(separator: "/").map(String.init)
    }

    private static func resolve(_ path: Path) throws -> Path {
        guard let resolved = realpath(path.string, nil) else {
            throw FileError(errno: errno, doing: "resolve", path: path)
        }
        defer { free(resolved) }
        return Path(String(cString: resolved))
    }
}
