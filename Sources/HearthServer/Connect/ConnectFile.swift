import Foundation
import HearthBase

/// A configuration of an app on the disk, behind symbolic links.
struct ConnectFile {
    /// The file that links lead to.
    let path: Path
    /// The bytes; `nil` if the file does not exist.
    let bytes: [UInt8]?
    private let facts: stat?

    /// Finds and reads a file. Blocks.
    /// - Throws: ``ConnectError``, `FileError`.
    init(_ named: Path) throws {
        let system = LocalFileSystem()
        path = try Self.target(named, system)
        var facts = stat()
        guard stat(path.string, &facts) == 0 else {
            guard errno == ENOENT else {
                if errno == EACCES { throw ConnectError.readOnly(path) }
                throw FileError(errno: errno, doing: "read", path: path)
            }
            (bytes, self.facts) = (nil, nil)
            return
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw ConnectError.refused(.unsafe("it is not a file"), file: path)
        }
        self.facts = facts
        do {
            let data = try system.contents(ofFile: path, limit: ConfigurationForm.maximumBytes)
            bytes = Array(data)
        } catch let error as FileError where error.code == .permissionDenied {
            throw ConnectError.readOnly(path, underlying: error)
        }
    }

    private static func target(_ named: Path, _ system: LocalFileSystem) throws -> Path {
        var target = named.absolute
        for _ in 0..<32 {
            guard try system.status(at: target, followLinks: false)?.kind == .symbolicLink else { return target }
            let link = try system.readLink(target)
            target = link.hasPrefix("/") ? Path(link) : target.parent.joined(link)
        }
        throw FileError(errno: ELOOP, doing: "read", path: named)
    }

    /// Checks that the file may be changed: its owner marks a file that is not to be changed as read-only. Blocks.
    /// - Throws: ``ConnectError`` with `app-file-read-only`.
    func requireWritable() throws {
        if let facts, facts.st_mode & 0o222 == 0 { throw ConnectError.readOnly(path) }
        var folder = path.parent
        while access(folder.string, F_OK) != 0, errno == ENOENT, folder != folder.parent { folder = folder.parent }
        if access(folder.string, W_OK) != 0 || facts != nil && access(path.string, W_OK) != 0 {
            throw ConnectError.readOnly(path)
        }
    }

    /// Replaces the file; readers see the old bytes or the new ones. The access rights and the owner stay; only its owner can
    /// read a new file. Blocks.
    /// - Returns: the folders that were made for it.
    /// - Throws: ``ConnectError``, `FileError`.
    @discardableResult
    func write(_ bytes: [UInt8]) throws -> [Path] {
        let system = LocalFileSystem()
        var missing: [Path] = []
        var folder = path.parent
        while try system.status(at: folder) == nil {
            missing.append(folder)
            folder = folder.parent
        }
        do {
            try system.makeFolders(path.parent, permissions: 0o700)
            let temporary = path.parent.appendingTemporary(besides: path.lastComponent)
            let file = try system.open(temporary, .createNew, permissions: 0o600)
            do {
                try keepRights(of: file)
                try Data(bytes).withUnsafeBytes { try system.write(file, $0, at: 0) }
                try system.synchronize(file)
                try system.rename(temporary, to: path)
            } catch {
                // The caller gets the first error.
                try? system.removeFile(temporary)
                throw error
            }
            try system.synchronizeFolder(path.parent)
        } catch let error as FileError where error.code == .permissionDenied || error.code == .readOnly {
            throw ConnectError.readOnly(path, underlying: error)
        }
        return missing
    }

    private func keepRights(of file: OpenFile) throws {
        guard let facts else { return }
        if facts.st_uid != geteuid() || facts.st_gid != getegid(),
            fchown(file.descriptor, facts.st_uid, facts.st_gid) != 0
        {
            throw FileError(errno: errno, doing: "give to its owner", path: path)
        }
        guard fchmod(file.descriptor, facts.st_mode & 0o7777) == 0 else {
            throw FileError(errno: errno, doing: "set the access rights of", path: path)
        }
    }

    /// Removes the file, and folders that are empty then. Blocks.
    func remove(folders: [Path]) throws {
        let system = LocalFileSystem()
        try system.removeFile(path)
        for folder in folders {
            guard try system.status(at: folder) != nil, try system.contents(of: folder).isEmpty else { return }
            try system.removeFolder(folder)
        }
    }
}
