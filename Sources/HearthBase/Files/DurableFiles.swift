import Foundation

/// Operations that keep the disk consistent after a power cut at any point.
///
/// The order is always: write the data, synchronise the file, rename, synchronise the folder.
extension FileSystem {
    /// Replaces a file's contents. Readers see the old bytes or the new ones, never a mixture, also after a power cut.
    /// - Parameter isSynced: whether the new bytes are brought to the disk; if not, a power cut may leave any others.
    package func replaceContents(
        of path: Path, with data: Data, permissions: UInt32 = 0o644, isSynced: Bool = true
    ) throws {
        let temporary = path.parent.appendingTemporary(besides: path.lastComponent)
        let file = try open(temporary, .createNew, permissions: permissions)
        do {
            try data.withUnsafeBytes { try write(file, $0, at: 0) }
            if isSynced { try synchronize(file) }
            try rename(temporary, to: path)
        } catch {
            // The caller gets the first error; a remaining temporary file is recognised by its name and removed later.
            try? removeFile(temporary)
            throw error
        }
        if isSynced { try synchronizeFolder(path.parent) }
    }

    /// Changes the target of a symbolic link. Readers see the old target or the new one.
    package func replaceLink(at path: Path, with target: String) throws {
        let temporary = path.parent.appendingTemporary(besides: path.lastComponent)
        try makeLink(at: temporary, to: target)
        do {
            try rename(temporary, to: path)
        } catch {
            // The caller gets the first error; a remaining link is recognised by its name and removed later.
            try? removeFile(temporary)
            throw error
        }
        try synchronizeFolder(path.parent)
    }

    /// Moves a file or folder and synchronises both parent folders.
    package func moveDurably(_ source: Path, to target: Path) throws {
        try rename(source, to: target)
        try synchronizeFolder(target.parent)
        if source.parent != target.parent { try synchronizeFolder(source.parent) }
    }

    /// Creates a folder and its missing parents, and synchronises each.
    package func makeFolders(_ path: Path, permissions: UInt32 = 0o755) throws {
        if let status = try status(at: path) {
            guard status.kind == .folder else { throw FileError(errno: ENOTDIR, doing: "create", path: path) }
            // If a process was killed between creating this folder and the next line, a power cut can still remove the
            // folder with its contents. A folder that the user may not read is not synchronised.
            do {
                if path.parent != path { try synchronizeFolder(path.parent) }
            } catch let error as FileError where error.code == .permissionDenied {}
            return
        }
        if path.parent != path { try makeFolders(path.parent, permissions: permissions) }
        do {
            try makeFolder(path, permissions: permissions)
        } catch let error as FileError where error.code == .alreadyExists {
            // Another process created the folder first, or a broken link has this name.
            guard try status(at: path)?.kind == .folder else { throw error }
        }
        try synchronizeFolder(path.parent)
    }

    /// Reads a whole file of at most `limit` bytes.
    package func contents(ofFile path: Path, limit: Int) throws -> Data {
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

    /// Removes a folder and its contents. Follows no symbolic link.
    package func removeTree(_ path: Path) throws {
        guard let status = try status(at: path, followLinks: false) else { return }
        guard status.kind == .folder else { return try removeFile(path) }
        for name in try contents(of: path) {
            try removeTree(path.joined(name))
        }
        try removeFolder(path)
    }

    /// All files below a folder, as sorted paths relative to it. Follows no link.
    package func files(below folder: Path) throws -> [String] {
        try contents(of: folder).flatMap { name -> [String] in
            let path = folder.joined(name)
            guard try status(at: path, followLinks: false)?.kind == .folder else { return [name] }
            return try files(below: path).map { "\(name)/\($0)" }
        }
    }
}

extension Path {
    /// The mark in the name of an unfinished file; listings of the folder skip such names.
    package static let temporaryMark = ".tmp-"

    /// An unused name beside `name` with ``temporaryMark``, within the limit for names.
    package func appendingTemporary(besides name: String) -> Path {
        var beginning = name
        while beginning.utf8.count > 180 { beginning.unicodeScalars.removeLast() }
        return joined("." + beginning + Path.temporaryMark + String(UInt64.random(in: 0 ... .max), radix: 36))
    }
}
