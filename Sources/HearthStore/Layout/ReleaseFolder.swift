import HearthBase

/// Looks up and replaces files in a release's folder. Follows no link, not even one in place of a sub-folder.
struct ReleaseFolder {
    package let path: Path
    let fileSystem: any FileSystem
    var realFolders: Set<RelativePath> = []

    /// The status of a file; `nil` if it is missing, or if one of its folders is not a folder.
    package mutating func status(of file: RelativePath) throws -> FileStatus? {
        for folder in file.folders where !realFolders.contains(folder) {
            guard try isFolder(path.appending(folder)) else { return nil }
            realFolders.insert(folder)
        }
        return try fileSystem.status(at: path.appending(file), followLinks: false)
    }

    /// Moves a file to its name by a rename, in place of an earlier one or of anything else with that name.
    func put(_ source: Path, at name: RelativePath) throws {
        for folder in name.folders.map(path.appending) where try !isFolder(folder) {
            try fileSystem.removeFile(folder)
            try fileSystem.makeFolder(folder, permissions: 0o755)
            try fileSystem.synchronizeFolder(folder.parent)
        }
        let target = path.appending(name)
        if try isFolder(target) { try fileSystem.removeTree(target) }
        try fileSystem.rename(source, to: target)
        try fileSystem.synchronizeFolder(target.parent)
    }

    private func isFolder(_ path: Path) throws -> Bool {
        try fileSystem.status(at: path, followLinks: false)?.kind == .folder
    }
}
