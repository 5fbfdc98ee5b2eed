import Foundation
import HearthBase

/// Changes of the disk that a power cut may undo, for small files.
extension FileSystem {
    /// Creates a folder and its missing parents.
    /// - Parameter isSynced: whether the folder itself is brought to the disk; its parents always are.
    func makeFolders(_ path: Path, isSynced: Bool) throws {
        guard !isSynced, try status(at: path.parent)?.kind == .folder else { return try makeFolders(path) }
        do {
            try makeFolder(path, permissions: 0o755)
        } catch let error as FileError where error.code == .alreadyExists {}
    }
}
