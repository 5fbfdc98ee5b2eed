import Foundation
import HearthBase

/// Puts a lease in its place if nobody alive stands there. Blocks.
///
/// An empty place is taken by a hard link, which fails where there is something: one of many wins, on network file systems
/// too. A stale lease is replaced by one rename, and only by who has won the right to it: the file `lease.after-<token>`,
/// named after the stale lease, again taken by a hard link. Who wins that looks once more whether the stale lease is still
/// there, since the winner before may have replaced it; while the right is held, nobody else replaces it. A winner that
/// died on the way left a stale lease itself, at `lease.after-<token>`, and is superseded in the same way.
struct LeaseClaim {
    /// Winners that died one after the other, before somebody has to clear up.
    private static let deepest = 8

    let folder: Path
    let fileSystem: any FileSystem
    let lease: TransferLease
    let now: Date
    /// How long something that is no lease has to lie there unchanged before it is damage.
    var patience = TransferLease.lifetime
    /// The tokens this process works under.
    let held: @Sendable () -> Set<String>

    /// The place of the lease itself.
    static func place(in folder: Path) -> Path { folder.appending("lease") }

    /// The open lease file, `nil` if somebody else is there.
    func claim() throws -> OpenFile? {
        guard let file = try claim(Self.place(in: folder), depth: 0) else { return nil }
        try removeMarkers()
        return file
    }

    private func claim(_ path: Path, depth: Int) throws -> OpenFile? {
        // Somebody may let go between the two looks; who is always a moment too late gives up.
        for _ in 0..<4 {
            if let file = try create(path) { return file }
            guard let found = try FoundLease.read(path, in: fileSystem) else { continue }
            guard found.isStale(at: now, held: held(), patience: patience), depth < Self.deepest else { return nil }
            let right = HomeLayout.join(folder, "lease.after-\(found.name)")
            guard try claim(right, depth: depth + 1) != nil else { return nil }
            let result = Result { try replace(path, holding: found) }
            try fileSystem.removeFile(right)
            if let file = try result.get() { return file }
        }
        return nil
    }

    /// Replaces what was found, if it is still that.
    private func replace(_ path: Path, holding found: FoundLease) throws -> OpenFile? {
        guard try FoundLease.read(path, in: fileSystem)?.name == found.name else { return nil }
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
        // Spares the work where it would be in vain; what counts is the link.
        guard try fileSystem.status(at: path, followLinks: false) == nil else { return nil }
        let (file, temporary) = try write()
        defer { forget(temporary) }
        do {
            try fileSystem.makeHardLink(at: path, to: temporary)
            return file
        } catch let error as FileError {
            // A network file system may say no although it was done: the answer got lost, not the call.
            let mine = try fileSystem.status(of: file).identity
            if try fileSystem.status(at: path, followLinks: false)?.identity == mine { return file }
            if error.code == .alreadyExists { return nil }
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(where: { error.context.found == "errno \($0)" }) else {
                throw error
            }
            return try createWithoutLinks(path)
        }
    }

    /// On file systems without hard links: others may see the file before there is anything in it, and wait.
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
        let temporary = folder.appendingTemporary(besides: "lease")
        let file = try fileSystem.open(temporary, .createNew)
        do {
            try fill(file)
        } catch {
            forget(temporary)
            throw error
        }
        return (file, temporary)
    }

    private func fill(_ file: OpenFile) throws {
        try lease.data().withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
    }

    private func forget(_ temporary: Path) {
        do {
            try fileSystem.removeFile(temporary)
        } catch {
            Log.write(.info, "delivery.transfer", "\(temporary) stays until its folder goes: \(error)")
        }
    }

    /// Takes away the rights of the dead: what they were rights to is gone.
    private func removeMarkers() throws {
        for name in try fileSystem.contents(of: folder) where name.hasPrefix("lease.after-") {
            let path = HomeLayout.join(folder, name)
            guard let found = try FoundLease.read(path, in: fileSystem),
                found.isStale(at: now, held: held(), patience: patience)
            else {
                continue
            }
            try fileSystem.removeFile(path)
        }
    }
}
