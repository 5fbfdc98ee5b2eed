import Foundation
import HearthBase
import HearthClassification

/// Identifies a model by its bytes, and a compiled one by its files.
struct ModelDigest {
    let fileSystem: any FileSystem

    /// The SHA-256 of a model: of its file, or of the list of the files of its folder. Blocks.
    func digest(of model: Path, _ flag: StopFlag) throws -> SHA256Digest {
        guard let status = try fileSystem.status(at: model) else {
            throw FileError(errno: ENOENT, doing: "open", path: model)
        }
        guard status.kind == .folder else { return try digest(ofFile: model, flag) }
        var files: [(path: RelativePath, size: UInt64, digest: SHA256Digest)] = []
        for name in try fileSystem.files(below: model) {
            guard let path = RelativePath(name) else {
                throw ClassificationError(
                    .unreadableModel, "the model has a file of an unusable name",
                    context: ErrorContext(file: model.string))
            }
            let file = model.joined(name)
            let size = try fileSystem.status(at: file)?.size ?? 0
            files.append((path, size, try digest(ofFile: file, flag)))
        }
        return SHA256Digest(listing: files)
    }

    private func digest(ofFile path: Path, _ flag: StopFlag) throws -> SHA256Digest {
        let file = try fileSystem.open(path, .read)
        var hasher = SHA256Hasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var offset: UInt64 = 0
        while true {
            try flag.check()
            let count = try fileSystem.read(file, into: buffer, at: offset)
            guard count > 0 else { break }
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += UInt64(count)
        }
        return hasher.finalize()
    }

    /// The names and lengths of a folder's files, a line each.
    func listing(of folder: Path) throws -> String {
        try fileSystem.files(below: folder).map { name in
            "\(try fileSystem.status(at: folder.joined(name), followLinks: false)?.size ?? 0) \(name)\n"
        }.joined()
    }
}
