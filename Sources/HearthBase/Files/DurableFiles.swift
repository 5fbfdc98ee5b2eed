import Foundation

/// Operations that leave the disk whole after a power cut at any instruction.
///
/// The order is always: write data, bring it to the disk, rename, bring the folder to the disk.
extension FileSystem {
    /// Replaces a file's contents: readers see the old bytes or the new ones, never a mixture, also after a power cut.
    public func replaceContents(of path: Path, with data: Data, permissions: UInt32 = 0o644) throws {
        let temporary = path.parent.appendingTemporary(besides: path.lastComponent)
        let file = try open(temporary, .createNew, permissions: permissions)
        do {
            try data.withUnsafeBytes { try write(file, $0, at: 0) }
            try synchronize(file)
            try rename(temporary, to: path)
        } catch {
            // The first error is the one to report; a temporary file that stays is collected by its name.
            try? removeFile(temporary)
            throw error
        }
        try synchronizeFolder(path.parent)
    }

    /// Points a symbolic link elsewhere; readers see the old target or the new one.
    public func replaceLink(at path: Path, with target: String) throws {
        let temporary = path.parent.appendingTemporary(besides: path.lastComponent)
        try makeLink(at: temporary, to: target)
        do {
            try rename(temporary, to: path)
        } catch {
            // As above: the first error is the one to report, and a link that stays is collected by its name.
            try? removeFile(temporary)
            throw error
        }
        try synchronizeFolder(path.parent)
    }

    /// Moves a file or folder and brings both folders to the disk.
    public func moveDurably(_ source: Path, to target: Path) throws {
        try rename(source, to: target)
        try synchronizeFolder(target.parent)
        if source.parent != target.parent { try synchronizeFolder(source.parent) }
    }

    /// Creates a folder and those above it that are missing, each brought to the disk.
    public func makeFolders(_ path: Path, permissions: UInt32 = 0o755) throws {
        if let status = try status(at: path) {
            guard status.kind == .folder else { throw FileError(errno: ENOTDIR, doing: "create", path: path) }
            // A process that was killed between creating this folder and the next line left an entry that a power cut
            // can still take away, with everything below it. Folders the user may not read are not ours.
            do {
                if path.parent != path { try synchronizeFolder(path.parent) }
            } catch let error as FileError where error.code == .permissionDenied {}
            return
        }
        if path.parent != path { try makeFolders(path.parent, permissions: permissions) }
        do {
            try makeFolder(path, permissions: permissions)
        } catch let error as FileError where error.code == .alreadyExists {
            // Another process was quicker, or a link that leads nowhere stands there.
            guard try status(at: path)?.kind == .folder else { throw error }
        }
        try synchronizeFolder(path.parent)
    }

    /// The whole contents of a file, refused above `limit` bytes.
    public func contents(ofFile path: Path, limit: Int) throws -> Data {
        let file = try open(path, .read)
        let size = try status(of: file).size
        guard size <= limit else {
            throw FileError(
                .ioFailure, "\(path) is larger than such a file may be",
                context: ErrorContext(file: path.string, expected: "at most \(limit) bytes", found: "\(size) bytes"))
        }
        var data = Data(count: Int(size))
        let count = try data.withUnsafeMutableBytes { try read(file, into: $0, at: 0) }
        return data.prefix(count)
    }

    /// Removes a folder and everything in it, never following a symbolic link out of it.
    public func removeTree(_ path: Path) throws {
        guard let status = try status(at: path, followLinks: false) else { return }
        guard status.kind == .folder else { return try removeFile(path) }
        for name in try contents(of: path) {
            try removeTree(path.joined(name))
        }
        try removeFolder(path)
    }

    /// Everything below a folder that is no folder itself, as paths relative to it, sorted; no link is followed.
    public func files(below folder: Path) throws -> [String] {
        try contents(of: folder).flatMap { name -> [String] in
            let path = folder.joined(name)
            guard try status(at: path, followLinks: false)?.kind == .folder else { return [name] }
            return try files(below: path).map { "\(name)/\($0)" }
        }
    }

    /// The SHA-256 of a file, read in pieces of 1 MiB. Blocks for about half a second per GiB.
    public func digest(ofFile path: Path) throws -> SHA256Digest {
        let file = try open(path, .read)
        var hasher = SHA256Hasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: UInt64 = 0
        while true {
            let count = try read(file, into: buffer, at: offset)
            if count == 0 { break }
            hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += UInt64(count)
        }
        return hasher.finalize()
    }
}

extension Path {
    /// The mark of a file that is not finished yet; whoever lists a folder passes such names over.
    public static let temporaryMark = ".tmp-"

    /// An unused name beside `name`, recognisable by ``temporaryMark`` and never longer than a name may be.
    public func appendingTemporary(besides name: String) -> Path {
        var beginning = name
        while beginning.utf8.count > 180 { beginning.unicodeScalars.removeLast() }
        return joined("." + beginning + Path.temporaryMark + String(UInt64.random(in: 0 ... .max), radix: 36))
    }
}
