import Foundation
import HearthBase
import HearthCatalog

/// Packs the folders of a request, such as `.mlpackage`, as archives that devices unpack. The archives lie in a temporary
/// folder until the publication ends.
///
/// The same files give the same bytes: entries are sorted, and have no dates or owners. So publishing a folder twice
/// changes nothing.
struct FolderPacking: Sendable {
    private let request: PublishRequest
    private let folder: Path
    private let fileSystem: any FileSystem

    init(_ request: PublishRequest, fileSystem: any FileSystem) {
        self.request = request
        self.fileSystem = fileSystem
        let name = "hearth-publish-\(UUID().uuidString)"
        folder = Path(FileManager.default.temporaryDirectory.path).joined(name)
    }

    /// The request with an archive in place of each folder. Blocks.
    /// - Throws: ``PublishingError`` with `not-publishable`; `FileError`; `CancellationError`.
    func pack(flag: StopFlag) throws -> PublishRequest {
        var packed = request
        packed.files = try request.files.map { path in
            guard try isFolder(path) else { return path }
            try fileSystem.makeFolders(folder, permissions: 0o700)
            // The name without `.mlpackage`, since the rest of it tells version and variant.
            let name = path.lastComponent
            let isPackage = ModelFormat(fileName: name) != nil
            let target = folder.joined((isPackage ? (name as NSString).deletingPathExtension : name) + ".tar")
            try pack(path, to: target, flag: flag)
            return target
        }
        return packed
    }

    /// Removes the archives.
    func removeFolder() {
        do {
            try fileSystem.removeTree(folder)
        } catch {
            Log.write(.warning, "packed models stay in \(folder): \(error)")
        }
    }

    /// Whether a path is a folder that holds a model: not one that is named like a file.
    private func isFolder(_ path: Path) throws -> Bool {
        guard try fileSystem.status(at: path, followLinks: false)?.kind == .folder else { return false }
        return ModelFormat(fileName: path.lastComponent).map { $0 == .coreml } ?? true
    }

    /// A file of the folder, and its entry in the archive.
    private struct Entry {
        let path: Path
        let header: TarHeader
        let size: UInt64
        /// The offset of its bytes.
        let offset: UInt64
        /// The offset of the next entry: archives consist of blocks of 512 bytes.
        var end: UInt64 { offset + (size + 511) / 512 * 512 }
    }

    private func pack(_ source: Path, to target: Path, flag: StopFlag) throws {
        let entries = try entries(of: source)
        let end = entries.last?.end ?? 0
        let file = try fileSystem.open(target, .createNew, permissions: 0o600)
        // A full disk is noticed before the first byte is copied. Two empty blocks end an archive.
        try fileSystem.allocate(file, size: end + 1024)
        for entry in entries {
            try entry.header.bytes.withUnsafeBytes { bytes in
                try fileSystem.write(file, bytes, at: entry.offset - UInt64(bytes.count))
            }
            let count = try FilePump(fileSystem: fileSystem, flag: flag).read(fileSystem.open(entry.path, .read)) {
                bytes, offset in
                guard offset + UInt64(bytes.count) <= entry.size else { throw FileCopier.changed(entry.path) }
                try fileSystem.write(file, bytes, at: entry.offset + offset)
            }
            guard count == entry.size else { throw FileCopier.changed(entry.path) }
        }
    }

    private func entries(of source: Path) throws -> [Entry] {
        var entries: [Entry] = []
        for name in try fileSystem.files(below: source).sorted() {
            let path = source.joined(name)
            guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file else {
                throw PublishingError.refused(
                    path, "it is no regular file", "Devices install regular files only; take it out of the folder.")
            }
            guard let header = TarHeader(path: "\(source.lastComponent)/\(name)", size: status.size) else {
                throw PublishingError.refused(
                    path, "its path is too long for an archive, or it has 8 GiB or more",
                    "Pack the folder yourself, and publish the archive.")
            }
            let start = (entries.last?.end ?? 0) + UInt64(header.bytes.count)
            entries.append(Entry(path: path, header: header, size: status.size, offset: start))
        }
        return entries
    }
}

/// The header of a regular file in a tar archive (POSIX.1-1988, `ustar`).
struct TarHeader: Sendable, Hashable {
    /// One block of 512 bytes.
    let bytes: [UInt8]

    /// A header without date and owner; `nil` if the format has no room for the path or the size.
    init?(path: String, size: UInt64) {
        guard size < 1 << 33, let (prefix, name) = Self.halves(of: Array(path.utf8)) else { return nil }
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ text: some Sequence<UInt8>, at offset: Int) {
            for (index, byte) in text.enumerated() { block[offset + index] = byte }
        }
        func octal(_ value: UInt64, _ digits: Int) -> [UInt8] {
            let text = String(value, radix: 8)
            return Array((String(repeating: "0", count: digits - text.count) + text).utf8)
        }
        put(name, at: 0)
        put("0000644".utf8, at: 100)
        put("0000000".utf8, at: 108)
        put("0000000".utf8, at: 116)
        put(octal(size, 11), at: 124)
        put("00000000000".utf8, at: 136)
        put("        ".utf8, at: 148)
        put("0".utf8, at: 156)
        put("ustar\u{0}00".utf8, at: 257)
        put(prefix, at: 345)
        put(octal(block.reduce(0) { $0 + UInt64($1) }, 6) + [0], at: 148)
        bytes = block
    }

    /// The path divided at a slash: at most 155 bytes, and at most 100 after it.
    private static func halves(of path: [UInt8]) -> (prefix: ArraySlice<UInt8>, name: ArraySlice<UInt8>)? {
        if path.count <= 100 { return ([], path[...]) }
        for (index, byte) in path.enumerated() where byte == UInt8(ascii: "/") {
            if index <= 155, path.count - index - 1 <= 100 { return (path[..<index], path[(index + 1)...]) }
        }
        return nil
    }
}
