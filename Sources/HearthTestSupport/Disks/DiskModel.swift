import Foundation
import HearthBase

/// One change to a ``PowerCutDisk``; names begin at its root.
enum DiskChange: Sendable, CustomStringConvertible {
    case create([String], node: Int, permissions: UInt32)
    case write(node: Int, offset: Int, bytes: [UInt8])
    case resize(node: Int, size: Int)
    case synchronize(node: Int)
    /// A failed synchronisation: the file's changes count as clean from now on, and are lost.
    case failToSynchronize(node: Int)
    case synchronizeFolder([String])
    case rename([String], to: [String])
    case remove([String])
    case makeFolder([String], node: Int, permissions: UInt32)
    case makeLink([String], node: Int, target: String)
    case makeHardLink([String], to: [String])

    var description: String {
        func text(_ names: [String]) -> String { names.isEmpty ? "." : names.joined(separator: "/") }
        return switch self {
        case .create(let names, let node, _): "create \(text(names)) #\(node)"
        case .write(let node, let offset, let bytes): "write #\(node) \(bytes.count) bytes at \(offset)"
        case .resize(let node, let size): "resize #\(node) to \(size)"
        case .synchronize(let node): "synchronize #\(node)"
        case .failToSynchronize(let node): "fail to synchronize #\(node)"
        case .synchronizeFolder(let names): "synchronize folder \(text(names))"
        case .rename(let from, let to): "rename \(text(from)) -> \(text(to))"
        case .remove(let names): "remove \(text(names))"
        case .makeFolder(let names, _, _): "make folder \(text(names))"
        case .makeLink(let names, _, let target): "link \(text(names)) -> \(target)"
        case .makeHardLink(let names, let target): "hard link \(text(names)) = \(text(target))"
        }
    }
}

/// The contents of a disk in two states: the present one, and that of the last synchronisation of each file and folder.
struct DiskModel: Sendable {
    private struct File {
        var now: [UInt8] = []
        var synced: [UInt8] = []
        /// The ranges of `now` that a synchronisation would write.
        var dirty = RangeSet<Int>()
        var permissions: UInt32

        mutating func synchronize() {
            if synced.count > now.count { synced.removeLast(synced.count - now.count) }
            synced += [UInt8](repeating: 0, count: now.count - synced.count)
            for range in dirty.ranges where range.lowerBound < now.count {
                let kept = range.clamped(to: 0..<now.count)
                synced.replaceSubrange(kept, with: now[kept])
            }
            dirty = RangeSet()
        }

        /// The bytes that a disk may leave when the power fails during a write: each sector old or new.
        func torn(_ coin: inout SeededGenerator) -> [UInt8] {
            var bytes = Bool.random(using: &coin) ? now : Array(now.prefix(synced.count))
            for start in stride(from: 0, to: bytes.count, by: DiskModel.sector) {
                let sector = start..<min(bytes.count, start + DiskModel.sector)
                let old = synced[min(sector.lowerBound, synced.count)..<min(sector.upperBound, synced.count)]
                if bytes[sector] == old || Bool.random(using: &coin) { continue }
                bytes.replaceSubrange(
                    sector, with: Array(old) + [UInt8](repeating: 0, count: sector.count - old.count))
            }
            return bytes
        }
    }

    private struct Folder {
        var now: [String: Int] = [:]
        var synced: [String: Int] = [:]
        var permissions: UInt32
    }

    private enum Node {
        case file(File)
        case folder(Folder)
        case link(String)
    }

    private static let root = 0
    /// The number of bytes that a disk writes all together or not at all.
    private static let sector = 512
    private var nodes: [Int: Node] = [root: .folder(Folder(permissions: 0o755))]
    private(set) var nextNode = 1

    // MARK: - Loading

    /// Loads the contents of a real folder as synchronised, and returns the node of each file.
    mutating func load(_ folder: Path) throws -> [FileIdentity: Int] {
        var identities: [FileIdentity: Int] = [:]
        try load(folder, into: Self.root, &identities)
        return identities
    }

    private mutating func load(_ folder: Path, into parent: Int, _ identities: inout [FileIdentity: Int]) throws {
        let disk = LocalFileSystem()
        for name in try disk.contents(of: folder) {
            let path = Path(folder.string + "/" + name)
            guard let status = try disk.status(at: path, followLinks: false) else { continue }
            if let known = identities[status.identity] {
                changeFolder(parent) { $0.now[name] = known }
                continue
            }
            let node = nextNode
            nextNode += 1
            changeFolder(parent) { $0.now[name] = node }
            switch status.kind {
            case .folder:
                nodes[node] = .folder(Folder(permissions: 0o755))
                try load(path, into: node, &identities)
            case .symbolicLink:
                nodes[node] = .link(try disk.readLink(path))
            case .file, .other:
                let bytes = [UInt8](try disk.contents(ofFile: path, limit: 1 << 30))
                nodes[node] = .file(File(now: bytes, synced: bytes, permissions: 0o644))
                identities[status.identity] = node
            }
        }
        changeFolder(parent) { $0.synced = $0.now }
    }

    // MARK: - Changes

    mutating func apply(_ change: DiskChange) throws {
        switch change {
        case .create(let names, let node, let permissions):
            nodes[node] = .file(File(permissions: permissions))
            try enter(names, node)
        case .makeFolder(let names, let node, let permissions):
            nodes[node] = .folder(Folder(permissions: permissions))
            try enter(names, node)
        case .makeLink(let names, let node, let target):
            nodes[node] = .link(target)
            try enter(names, node)
        case .makeHardLink(let names, let target):
            try enter(names, try find(target))
        case .write(let node, let offset, let bytes):
            changeFile(node) { file in
                let end = offset + bytes.count
                if file.now.count < end { file.now += [UInt8](repeating: 0, count: end - file.now.count) }
                file.now.replaceSubrange(offset..<end, with: bytes)
                file.dirty.insert(contentsOf: offset..<end)
            }
        case .resize(let node, let size):
            changeFile(node) { file in
                let kept = file.now.prefix(size)
                file.now = Array(kept) + [UInt8](repeating: 0, count: size - kept.count)
                file.dirty.insert(contentsOf: kept.count..<size)
            }
        case .synchronize(let node): changeFile(node) { $0.synchronize() }
        case .failToSynchronize(let node): changeFile(node) { $0.dirty = RangeSet() }
        case .synchronizeFolder(let names): changeFolder(try find(names)) { $0.synced = $0.now }
        case .rename(let from, let to):
            let node = try find(from)
            try leave(from)
            try enter(to, node)
        case .remove(let names): try leave(names)
        }
    }

    private func find(_ names: [String]) throws -> Int {
        try names.reduce(Self.root) { node, name in
            guard case .folder(let folder) = nodes[node], let next = folder.now[name] else {
                throw FileError(errno: ENOENT, doing: "replay", path: Path(names.joined(separator: "/")))
            }
            return next
        }
    }

    private mutating func enter(_ names: [String], _ node: Int) throws {
        guard let name = names.last else { return }
        changeFolder(try find(names.dropLast())) { $0.now[name] = node }
    }

    private mutating func leave(_ names: [String]) throws {
        guard let name = names.last else { return }
        changeFolder(try find(names.dropLast())) { $0.now[name] = nil }
    }

    private mutating func changeFile(_ node: Int, _ body: (inout File) -> Void) {
        guard case .file(var file) = nodes[node] else { return }
        nodes[node] = nil
        body(&file)
        nodes[node] = .file(file)
    }

    private mutating func changeFolder(_ node: Int, _ body: (inout Folder) -> Void) {
        guard case .folder(var folder) = nodes[node] else { return }
        nodes[node] = nil
        body(&folder)
        nodes[node] = .folder(folder)
    }

    // MARK: - After a power cut

    /// Writes the contents after a power cut into a real folder.
    func write(into folder: Path, policy: PowerCutDisk.Policy, seed: UInt64) throws {
        var coin = SeededGenerator(seed: seed)
        var written: [Int: Path] = [:]
        try write(Self.root, to: folder, policy, &coin, &written)
    }

    private func write(
        _ node: Int, to path: Path, _ policy: PowerCutDisk.Policy, _ coin: inout SeededGenerator,
        _ written: inout [Int: Path]
    ) throws {
        let disk = LocalFileSystem()
        switch nodes[node] {
        case .folder(let folder):
            if node != Self.root { try disk.makeFolder(path, permissions: folder.permissions) }
            // A dictionary has another order in every run.
            for (name, child) in names(of: folder, policy, &coin).sorted(by: { $0.key < $1.key }) {
                try write(child, to: Path(path.string + "/" + name), policy, &coin, &written)
            }
        case .file(let file):
            // Two names of one file stay names of one file.
            if let other = written[node] { return try disk.makeHardLink(at: path, to: other) }
            written[node] = path
            let open = try disk.open(path, .createNew, permissions: file.permissions)
            try content(file, policy, &coin).withUnsafeBytes { try disk.write(open, $0, at: 0) }
        case .link(let target): try disk.makeLink(at: path, to: target)
        case nil: break
        }
    }

    private func names(
        of folder: Folder, _ policy: PowerCutDisk.Policy, _ coin: inout SeededGenerator
    ) -> [String: Int] {
        switch policy {
        case .onlySynced: folder.synced
        case .everything, .namesWithoutData, .namesWithZeros: folder.now
        // The entries of one folder keep their order.
        case .scattered: Bool.random(using: &coin) ? folder.now : folder.synced
        }
    }

    private func content(
        _ file: File, _ policy: PowerCutDisk.Policy, _ coin: inout SeededGenerator
    ) -> [UInt8] {
        switch policy {
        case .scattered: file.torn(&coin)
        case .everything: file.now
        case .onlySynced, .namesWithoutData: file.synced
        case .namesWithZeros:
            Array(file.synced.prefix(file.now.count))
                + [UInt8](repeating: 0, count: max(0, file.now.count - file.synced.count))
        }
    }
}
