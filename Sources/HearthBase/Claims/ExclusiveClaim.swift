import Foundation

/// Takes a claim that only one process at a time can hold, on network file systems too. Blocks.
///
/// An empty place is taken by a hard link, which fails if the file exists: one of several processes wins. A stale claim
/// is replaced by one rename, and only by the process that won the right to it: the file `<name>.after-<token>`, named
/// after the stale claim, again taken by a hard link. The winner checks once more that the stale claim still exists,
/// because an earlier winner may have replaced it; while the right is held, no other process replaces it. If a winner
/// ends before it replaces the claim, it leaves a stale claim at `<name>.after-<token>`, which is replaced in the same
/// way.
package struct ExclusiveClaim {
    /// The most winners that may end one after the other; then a person has to remove the files.
    private static let deepest = 8

    private let place: Path
    private let claim: Claim
    private let fileSystem: any FileSystem
    private let now: Date
    private let lifetime: Duration
    private let damageLifetime: Duration

    /// Takes the claim at `place`, `nil` if another process holds it.
    /// - Parameters:
    ///   - flock: kept with the claim, and released with it; released at once if the claim cannot be taken.
    ///   - lifetime: how long a claim is valid without a renewal if this process cannot look up its holder.
    ///   - damageLifetime: how long an unreadable file must stay unchanged before it counts as damage.
    /// - Throws: ``FileError``.
    package static func take(
        _ place: Path, flock: FileLock? = nil, in fileSystem: any FileSystem, at now: Date, lifetime: Duration,
        damageLifetime: Duration
    ) throws -> HeldClaim? {
        let claim = Claim(at: now)
        let held = HeldClaim(claim, at: place, in: fileSystem)
        let attempt = ExclusiveClaim(
            place: place, claim: claim, fileSystem: fileSystem, now: now, lifetime: lifetime,
            damageLifetime: damageLifetime)
        do {
            guard let file = try attempt.take(place, depth: 0) else {
                held.release()
                flock?.release()
                return nil
            }
            held.place(file, flock: flock)
            try attempt.removeRights()
            return held
        } catch {
            held.release()
            flock?.release()
            throw error
        }
    }

    private var folder: Path { place.parent }
    private var rightPrefix: String { place.lastComponent + ".after-" }

    private func isStale(_ found: FoundClaim) -> Bool {
        found.isStale(at: now, lifetime: lifetime, damageLifetime: damageLifetime)
    }

    private func take(_ path: Path, depth: Int) throws -> OpenFile? {
        // The holder may release the claim between the two reads. A process that is too late each time stops trying.
        for _ in 0..<4 {
            if let file = try create(path) { return file }
            guard let found = try FoundClaim.read(path, in: fileSystem) else { continue }
            guard isStale(found), depth < Self.deepest else { return nil }
            let right = folder.joined(rightPrefix + found.name)
            guard try take(right, depth: depth + 1) != nil else { return nil }
            let result = Result { try replace(path, holding: found) }
            try fileSystem.removeFile(right)
            if let file = try result.get() { return file }
        }
        return nil
    }

    /// Replaces a stale claim, if its file is unchanged.
    private func replace(_ path: Path, holding found: FoundClaim) throws -> OpenFile? {
        guard try FoundClaim.read(path, in: fileSystem)?.name == found.name else { return nil }
        let (file, temporary) = try write()
        do {
            try fileSystem.rename(temporary, to: path)
        } catch {
            try fileSystem.removeFile(temporary)
            throw error
        }
        return file
    }

    /// Takes an empty place; `nil` if it is not empty.
    private func create(_ path: Path) throws -> OpenFile? {
        // A check before the work; the link decides.
        guard try fileSystem.status(at: path, followLinks: false) == nil else { return nil }
        let (file, temporary) = try write()
        defer { discard(temporary) }
        do {
            try fileSystem.makeHardLink(at: path, to: temporary)
            return file
        } catch let error as FileError {
            // A network file system may report a failure although it made the link, if its reply was lost.
            let mine = try fileSystem.status(of: file).identity
            if try fileSystem.status(at: path, followLinks: false)?.identity == mine { return file }
            if error.code == .alreadyExists { return nil }
            guard error.isSystemError(EPERM, EOPNOTSUPP, ENOSYS) else { throw error }
            return try createWithoutLinks(path)
        }
    }

    /// Takes an empty place on a file system without hard links: other processes may see the file empty, and wait.
    private func createWithoutLinks(_ path: Path) throws -> OpenFile? {
        let file: OpenFile
        do {
            file = try fileSystem.open(path, .createNew)
        } catch let error as FileError where error.code == .alreadyExists {
            return nil
        }
        try fill(file)
        let mine = try fileSystem.status(of: file).identity
        return try fileSystem.status(at: path, followLinks: false)?.identity == mine ? file : nil
    }

    private func write() throws -> (OpenFile, Path) {
        let temporary = folder.appendingTemporary(besides: place.lastComponent)
        let file = try fileSystem.open(temporary, .createNew)
        do {
            try fill(file)
        } catch {
            discard(temporary)
            throw error
        }
        return (file, temporary)
    }

    private func fill(_ file: OpenFile) throws {
        try claim.padded().withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
    }

    private func discard(_ temporary: Path) {
        do {
            try fileSystem.removeFile(temporary)
        } catch {
            Log.write(
                .info, "claims", "a file stays until its folder is removed", [.path(temporary), .error(error)])
        }
    }

    /// Removes the rights of processes that have ended: the claims for which they were made are also removed.
    private func removeRights() throws {
        for name in try fileSystem.contents(of: folder) where name.hasPrefix(rightPrefix) {
            let path = folder.joined(name)
            guard let found = try FoundClaim.read(path, in: fileSystem), isStale(found) else { continue }
            try fileSystem.removeFile(path)
        }
    }
}
