import Foundation
import HearthBase

/// The states in a folder, of all models and processes, next to other files. The date of a file is the time of its
/// last use. All calls block.
struct StateFolder {
    let path: Path
    let fileSystem: any FileSystem
    /// Whether the folder belongs to one model, and has no other files.
    var isOwn = false

    /// A file that begins like a state.
    struct File {
        let path: Path
        let used: Date
        let bytes: UInt64
        /// Whether a process is writing the file, or ended before it was complete.
        let isTemporary: Bool
    }

    /// The states of all makers and versions, the most recently used first. Dates are some milliseconds apart; of equal ones
    /// the name decides, which begins with the place in a conversation.
    func files() throws -> [File] {
        guard try fileSystem.status(at: path)?.kind == .folder else { return [] }
        return try fileSystem.contents(of: path).compactMap { name in
            let isTemporary = name.hasPrefix(".") && name.contains(StateFile.suffix + Path.temporaryMark)
            guard isTemporary || name.hasSuffix(StateFile.suffix), let component = PathComponent(name) else {
                return nil
            }
            let file = path.appending(component)
            guard let status = try fileSystem.status(at: file, followLinks: false), status.kind == .file,
                isOwn || StateFile.isState(beginning(of: file, length: StateFile.magic.count))
            else { return nil }
            return File(path: file, used: status.modified, bytes: status.size, isTemporary: isTemporary)
        }
        .sorted { ($1.used, $0.path.lastComponent) < ($0.used, $1.path.lastComponent) }
    }

    /// The first bytes of a file; empty for one that was just deleted or cannot be read.
    func beginning(of file: Path, length: Int) -> Data {
        do {
            let file = try fileSystem.open(file, .read)
            var data = Data(count: length)
            let count = try data.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: 0) }
            return data.prefix(count)
        } catch let error as FileError where error.code == .notFound {
            return Data()
        } catch {
            Log.write(.warning, "memory", "left a file alone that may be a state: \(error)")
            return Data()
        }
    }

    /// Deletes states until the folder is within a limit. The most recently used states stay, as far as they fit; a
    /// state that another process just used is thus deleted last.
    /// - Parameter spared: a state that counts as used now.
    /// - Returns: the deleted files.
    func trim(to limit: UInt64, sparing spared: Path? = nil) throws -> Set<Path> {
        let files = try files()
        var kept: UInt64 = 0
        var gone: Set<Path> = []
        for file in files.filter({ $0.path == spared }) + files.filter({ $0.path != spared }) {
            if file.bytes <= limit - kept {
                kept += file.bytes
            } else {
                delete(file.path)
                gone.insert(file.path)
            }
        }
        return gone
    }

    /// Marks a state as used now by writing its first bytes again.
    func touch(_ file: Path) {
        do {
            let open = try fileSystem.open(file, .readWrite)
            // Opening creates the file anew if another process has just deleted it.
            guard try fileSystem.status(of: open).size > 0 else { return delete(file) }
            try StateFile.magic.withUnsafeBytes { try fileSystem.write(open, $0, at: 0) }
        } catch {
            Log.write(.warning, "memory", "cannot date the state of a conversation: \(error)")
        }
    }

    /// Writes a state; a failure is logged.
    func write(_ state: StateFile, to path: Path) -> Bool {
        do {
            try fileSystem.makeFolders(self.path, permissions: 0o700)
            let temporary = self.path.appendingTemporary(besides: path.lastComponent)
            let file = try fileSystem.open(temporary, .createNew, permissions: 0o600)
            do {
                try state.write(to: file, fileSystem)
                try fileSystem.rename(temporary, to: path)
            } catch {
                try fileSystem.removeFile(temporary)
                throw error
            }
            return true
        } catch {
            Log.write(.warning, "memory", "cannot save the state of a conversation: \(error)")
            return false
        }
    }

    /// Reads a state. In a folder of the model's own it is then set aside: a state that ends the process while llama.cpp
    /// reads it is not read again.
    /// - Parameter isDated: whether it is marked as used now.
    func read(_ path: Path, isDated: Bool = true) -> StateCache.Reading {
        do {
            guard let status = try fileSystem.status(at: path), status.kind == .file else { return .gone }
            let data = try fileSystem.contents(ofFile: path, limit: Int(clamping: status.size))
            guard let state = StateFile(decoding: data) else { return .damaged }
            if isDated { touch(path) }
            if isOwn { try fileSystem.rename(path, to: aside(path)) }
            return .whole(state)
        } catch let error as FileError where error.code == .notFound {
            return .gone
        } catch {
            Log.write(.warning, "memory", "left the state of a conversation alone that cannot be read: \(error)")
            return .unreadable
        }
    }

    /// Puts a state back that was set aside and restored.
    func putBack(_ path: Path) {
        do {
            try fileSystem.rename(aside(path), to: path)
        } catch let error as FileError where error.code == .notFound {
            // Another process has put it back, or deleted it.
        } catch {
            Log.write(.warning, "memory", "cannot put a state back: \(error)")
        }
    }

    /// The name of a state that llama.cpp reads. It counts as unfinished.
    private func aside(_ path: Path) -> Path {
        self.path.joined("." + path.lastComponent + Path.temporaryMark + "read")
    }

    func delete(_ file: Path) {
        do {
            try fileSystem.removeFile(file)
            if isOwn { try fileSystem.removeFile(aside(file)) }
        } catch {
            Log.write(.warning, "memory", "cannot delete the state of a conversation: \(error)")
        }
    }
}
