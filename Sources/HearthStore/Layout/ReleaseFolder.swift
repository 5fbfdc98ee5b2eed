import HearthBase

/// Looks up files in a release's folder. Follows no link, not even one in place of a sub-folder.
struct ReleaseFolder {
    package let path: Path
    private let fileSystem: any FileSystem
    private var realFolders: Set<RelativePath> = []

    init(_ path: Path, fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
    }

    /// The status of a file; `nil` if it is missing, or if one of its folders is not a folder.
    package mutating func status(of file: RelativePath) throws -> FileStatus? {
        for folder in file.folders where !realFolders.contains(folder) {
            guard try fileSystem.status(at: path.appending(folder), followLinks: false)?.kind == .folder else {
                return nil
            }
            realFolders.insert(folder)
        }
        return try fileSystem.status(at: path.appending(file), followLinks: false)
    }
}
