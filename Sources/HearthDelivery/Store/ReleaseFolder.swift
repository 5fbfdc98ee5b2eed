import HearthBase

/// Looks up files in a release's folder, and never through a link: not even one that stands for a sub-folder.
struct ReleaseFolder {
    let path: Path
    private let fileSystem: any FileSystem
    private var realFolders: Set<RelativePath> = []

    init(_ path: Path, fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
    }

    /// What is at a file's place; `nil` where nothing is, or something else stands for one of its folders.
    mutating func status(of file: RelativePath) throws -> FileStatus? {
        for folder in file.folders where !realFolders.contains(folder) {
            guard try fileSystem.status(at: path.appending(folder), followLinks: false)?.kind == .folder else {
                return nil
            }
            realFolders.insert(folder)
        }
        return try fileSystem.status(at: path.appending(file), followLinks: false)
    }
}
