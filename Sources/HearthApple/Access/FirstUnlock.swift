import Foundation
import HearthBase

/// Tells whether a device was unlocked since it started, by a small file that the system makes readable at the first unlock.
///
/// ```
/// FOLDER/first-unlock    one byte, of the protection class "until first user authentication"
/// ```
/// A system without such protection always counts as unlocked.
package struct FirstUnlock: Sendable {
    private let file: Path
    private let fileSystem: any FileSystem
    private let protect: @Sendable (Path) throws -> Void

    /// - Parameters:
    ///   - folder: is created if it is missing.
    ///   - protect: gives the file its protection class.
    package init(
        folder: Path, fileSystem: any FileSystem = LocalFileSystem(), protect: @escaping @Sendable (Path) throws -> Void
    ) {
        (file, self.fileSystem, self.protect) = (folder.appending("first-unlock"), fileSystem, protect)
    }

    /// Whether the device was unlocked. The first call on a device writes the file.
    package func hasHappened() async -> Bool {
        await blocking { check() }
    }

    private func check() -> Bool {
        do {
            _ = try fileSystem.contents(ofFile: file, limit: 64)
            return true
        } catch let error as FileError where error.code == .notFound {
            return write()
        } catch let error as FileError where error.code == .permissionDenied {
            return false
        } catch {
            Log.write(.warning, "the file of the first unlock cannot be read", [.error(error)])
            return true
        }
    }

    /// Writes the file. Before the first unlock the system refuses that, too.
    private func write() -> Bool {
        do {
            try fileSystem.makeFolders(file.parent, permissions: 0o700)
            try fileSystem.replaceContents(of: file, with: Data("1".utf8), permissions: 0o600)
            try protect(file)
            return true
        } catch let error as FileError where error.code == .permissionDenied {
            return false
        } catch {
            Log.write(.warning, "the file of the first unlock cannot be written", [.error(error)])
            return true
        }
    }
}
