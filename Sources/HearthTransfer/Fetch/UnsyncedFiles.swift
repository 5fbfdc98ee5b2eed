import Foundation
import HearthBase

/// Changes of the disk that a power cut may undo, for small files.
extension FileSystem {
    /// Replaces a file's contents in one step.
    /// - Parameter isSynced: whether the new bytes are brought to the disk; if not, a power cut may leave any others.
    func replaceContents(of path: Path, with data: Data, isSynced: Bool) throws {
        if isSynced { return try replaceContents(of: path, with: data) }
        let temporary = path.parent.appendingTemporary(besides: path.lastComponent)
        do {
            let file = try open(temporary, .createNew)
            try data.withUnsafeBytes { try write(file, $0, at: 0) }
            try rename(temporary, to: path)
        } catch {
            // The caller gets the first error; a temporary file that stays is removed with its folder.
            try? removeFile(temporary)
            throw error
        }
    }

    /// Creates a folder and its missing parents.
    /// - Parameter isSynced: whether the folder itself is brought to the disk; its parents always are.
    func makeFolders(_ path: Path, isSynced: Bool) throws {
        guard !isSynced, try status(at: path.parent)?.kind == .folder else { return try makeFolders(path) }
        do {
            try makeFolder(path, permissions: 0o755)
        } catch let error as FileError where error.code == .alreadyExists {}
    }
}
