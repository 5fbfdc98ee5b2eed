import Foundation
import HearthBase

/// The trusted metadata of one origin on this device. Every call blocks.
///
/// ```
/// <folder>/
///   root.json, timestamp.json, snapshot.json, targets.json   the bytes as received
///   <escaped name>.json                                      a delegated role
///   checked                                                  the time of the last complete refresh
///   lock                                                     held during a refresh
/// ```
/// What is read back is verified like bytes from the network. The root alone decides what is trusted, so this folder is
/// never removed while its origin is configured.
package struct TrustStore: Sendable {
    package let folder: Path
    let fileSystem: any FileSystem

    /// How long a refresh waits for another process's.
    static let patience = Duration.seconds(20)

    package init(folder: Path, fileSystem: any FileSystem = LocalFileSystem()) {
        self.folder = folder
        self.fileSystem = fileSystem
    }

    func path(of role: MetadataRole) -> Path { folder.joined(role.fileName) }
    private var checkedPath: Path { folder.appending("checked") }

    /// Locks the folder for a refresh, and makes it if it is missing.
    /// - Throws: ``TrustError`` with `trust-busy`; `FileError`.
    func lock() throws -> FileLock {
        try fileSystem.makeFolders(folder)
        guard let lock = try FileLock.acquire(folder.appending("lock"), within: Self.patience) else {
            throw TrustError(
                .trustBusy, "another process is reading the metadata of this origin",
                context: ErrorContext(file: folder.string, remedy: "Try again in a moment."), disposition: .tryLater)
        }
        return lock
    }

    /// The bytes of a role's file, `nil` if there is none.
    package func read(_ role: MetadataRole) throws -> Data? {
        let path = path(of: role)
        guard try isFile(path) else { return nil }
        return try contents(of: path, limit: role.sizeLimit)
    }

    /// Replaces a role's file.
    package func keep(_ role: MetadataRole, _ data: Data) throws {
        try fileSystem.makeFolders(folder)
        try fileSystem.replaceContents(of: path(of: role), with: data)
    }

    /// Removes a role's file.
    package func forget(_ role: MetadataRole) throws {
        guard try fileSystem.status(at: folder) != nil else { return }
        try fileSystem.removeFile(path(of: role))
        try fileSystem.synchronizeFolder(folder)
    }

    func isFile(_ path: Path) throws -> Bool {
        try fileSystem.status(at: path, followLinks: false)?.kind == .file
    }

    func contents(of path: Path, limit: Int) throws -> Data { try fileSystem.contents(ofFile: path, limit: limit) }

    // MARK: - The floor of the clock

    private struct Checked: DiskRecord {
        var format = 1
        var time: Date
    }

    /// The time of the last complete refresh. A clock that shows an earlier time is wrong, and expired metadata would
    /// seem valid to it.
    package func checked() -> Date? {
        do {
            guard try isFile(checkedPath) else { return nil }
            return try Checked(data: try contents(of: checkedPath, limit: 4096)).time
        } catch {
            Log.write(.warning, "\(checkedPath) is not used: \(error)")
            return nil
        }
    }

    /// Records a complete refresh; at most once an hour, because each record costs two writes of the disk.
    func keepChecked(_ time: Date) throws {
        if let earlier = checked(), time < earlier.addingTimeInterval(3600) { return }
        try fileSystem.replaceContents(of: checkedPath, with: try Checked(time: time).data())
    }
}
