import Foundation

/// A folder of claims, one file each, named after its token. Blocks.
///
/// The folder and its parents up to `root` are real folders: claims are not read or written through a link.
package struct ClaimFolder: Sendable {
    package let path: Path
    private let root: Path
    private let fileSystem: any FileSystem

    /// The folder at `path`, in `root` or below it.
    package init(_ path: Path, in root: Path, fileSystem: any FileSystem) {
        self.path = path
        self.root = root
        self.fileSystem = fileSystem
    }

    /// The folders from `root` to this one.
    private var levels: [Path] {
        var levels = [path]
        while let first = levels.first, first != root, first.parent != first { levels.insert(first.parent, at: 0) }
        return levels
    }

    /// Whether the folder exists.
    package var exists: Bool {
        get throws { try levels.allSatisfy(isFolder) }
    }

    private func isFolder(_ path: Path) throws -> Bool {
        try fileSystem.status(at: path, followLinks: false)?.kind == .folder
    }

    // MARK: Reading

    /// The names in the folder, empty if it does not exist.
    package func names() throws -> [String] {
        guard try exists else { return [] }
        do {
            return try fileSystem.contents(of: path)
        } catch let error as FileError where error.code == .notFound {
            return []
        }
    }

    /// The tokens of the claims, sorted.
    package func tokens() throws -> [String] { try names().filter(Claim.isToken) }

    /// The claim with that token, `nil` if there is none.
    package func claim(_ token: String) throws -> FoundClaim? {
        try FoundClaim.read(file(token), in: fileSystem)
    }

    /// The file of a claim.
    package func file(_ token: String) -> Path { path.joined(token) }

    // MARK: Writing

    /// Writes a claim that survives a power cut. It replaces an earlier claim with the same token.
    package func put(_ claim: Claim) throws {
        let data = try claim.padded()
        try retrying {
            try fileSystem.makeFolders(path)
            try fileSystem.replaceContents(of: file(claim.token), with: data)
        }
    }

    /// Writes a claim that need not survive a power cut; its file is locked as long as the claim is held.
    /// - Throws: ``FileError``, with `not-a-folder` if a parent is not a folder.
    package func hold(_ claim: Claim) throws -> HeldClaim {
        try retrying {
            for level in levels { try makeFolder(level) }
            // Other processes see the claim either complete and locked, or not at all.
            let temporary = path.appendingTemporary(besides: claim.token)
            let file = try fileSystem.open(temporary, .createNew)
            let held = HeldClaim(claim, at: self.file(claim.token), in: fileSystem)
            do {
                try claim.padded().withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
                var flock: FileLock?
                if case .taken(let lock) = try FileLock.attempt(temporary) { flock = lock }
                try fileSystem.rename(temporary, to: held.path)
                held.place(file, flock: flock)
                return held
            } catch {
                held.release()
                sweep(temporary)
                throw error
            }
        }
    }

    /// Repeats a call that failed because another process removed the folder or the unfinished file at the same time.
    private func retrying<Result>(_ body: () throws -> Result) throws -> Result {
        var attempt = 1
        while true {
            do {
                return try body()
            } catch let error as FileError where error.code == .notFound && attempt < 4 {
                attempt += 1
            }
        }
    }

    private func makeFolder(_ path: Path) throws {
        do {
            try fileSystem.makeFolder(path, permissions: 0o755)
        } catch let error as FileError where error.code == .alreadyExists {
            guard try isFolder(path) else { throw FileError(errno: ENOTDIR, doing: "use", path: path) }
        }
    }

    /// Renews a claim in place.
    /// - Returns: whether the claim exists.
    package func renew(_ token: String, at date: Date) throws -> Bool {
        try Claim.rewrite(file(token), token: token, in: fileSystem) { $0.renew(at: date) }
    }

    // MARK: Removing

    /// Removes a claim durably: a power cut does not bring it back.
    package func remove(_ token: String) throws {
        let file = file(token)
        guard try fileSystem.status(at: file, followLinks: false) != nil else { return }
        try fileSystem.removeFile(file)
        var folder = path
        while true {
            do {
                return try fileSystem.synchronizeFolder(folder)
            } catch let error as FileError where error.code == .notFound && folder != root {
                // Another process removed the empty folder: that removal must also be synchronised.
                folder = folder.parent
            }
        }
    }

    /// Removes a void claim or an unfinished file. A failure is ignored.
    package func sweep(_ path: Path) {
        do {
            try fileSystem.removeFile(path)
        } catch {
            Log.write(.info, "claims", "a void claim stays", [.path(path), .error(error)])
        }
    }

    /// Removes the folder if it is empty.
    package func removeIfEmpty() throws {
        guard try exists, try names().isEmpty else { return }
        do {
            try fileSystem.removeFolder(path)
        } catch let error as FileError where error.code == .alreadyExists || error.code == .notFound {
            // Another process has made a claim or removed the folder.
        }
    }

    /// Whether a name belongs to an unfinished file.
    package static func isUnfinished(_ name: String) -> Bool {
        name.hasPrefix(".") && name.contains(Path.temporaryMark)
    }
}
