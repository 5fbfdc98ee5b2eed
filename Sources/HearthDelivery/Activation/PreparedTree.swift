import Foundation
import HearthBase

/// What lies in a folder that an engine made, with paths relative to it, sorted.
struct PreparedTree: Sendable, Hashable {
    struct File: Sendable, Hashable {
        var path: RelativePath
        /// The length in bytes.
        var size: UInt64
        var modified: Date
    }

    var files: [File]
    var folders: [RelativePath]
    /// What has no place in an artefact: links, pipes and the like, and names that are no `RelativePath`.
    var strays: [String] = []

    /// A tree of the given files and folders.
    init(files: [File], folders: [RelativePath]) {
        self.files = files
        self.folders = folders
    }

    /// Looks at everything below a folder and follows no link. Blocks.
    init(below folder: Path, fileSystem: any FileSystem) throws {
        self.init(files: [], folders: [])
        var unread = [(path: folder, name: "")]
        while let next = unread.popLast() {
            for name in try fileSystem.contents(of: next.path) {
                let (path, name) = (HomeLayout.join(next.path, name), next.name + name)
                // Gone since it was listed: whoever compares misses it.
                guard let status = try fileSystem.status(at: path, followLinks: false) else { continue }
                switch (status.kind, RelativePath(name)) {
                case (.file, let place?): files.append(File(path: place, size: status.size, modified: status.modified))
                case (.folder, let place?):
                    folders.append(place)
                    unread.append((path, name + "/"))
                default: strays.append(name)
                }
            }
        }
        files.sort { $0.path < $1.path }
        folders.sort()
        strays.sort()
    }

    /// Whether it has the names and lengths that were recorded, and nothing beside them.
    func matches(_ recorded: Self) -> Bool {
        strays.isEmpty && folders == recorded.folders && files.map(\.path) == recorded.files.map(\.path)
            && files.map(\.size) == recorded.files.map(\.size)
    }

    /// Brings every file and every folder to the disk. Blocks.
    func synchronize(at folder: Path, with pump: FilePump) throws {
        for file in files {
            try pump.flag.check()
            try pump.fileSystem.synchronize(try pump.fileSystem.open(folder.appending(file.path), .read))
        }
        for place in folders { try pump.fileSystem.synchronizeFolder(folder.appending(place)) }
        try pump.fileSystem.synchronizeFolder(folder)
    }

    /// The digest of everything in it; `onPiece` hears how many bytes came each time. Blocks.
    func digest(
        of folder: Path, with pump: FilePump, onPiece: (UInt64) -> Void = { _ in }
    ) throws -> SHA256Digest {
        let files = try files.map { file in
            (file.path, file.size, try pump.digest(of: folder.appending(file.path), onPiece: onPiece))
        }
        return SHA256Digest(listing: files, folders: folders)
    }
}

extension PreparedTree.File: Codable {
    private enum Key: String, CodingKey { case path, sizeBytes, modified }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        path = try values.decode(RelativePath.self, forKey: .path)
        size = try values.decode(UInt64.self, forKey: .sizeBytes)
        modified = Date(timeIntervalSince1970: try values.decode(Double.self, forKey: .modified))
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(path, forKey: .path)
        try values.encode(size, forKey: .sizeBytes)
        try values.encode(modified.timeIntervalSince1970, forKey: .modified)
    }
}

extension SHA256Digest {
    /// The digest of several files together: of their names, lengths and digests, and of the names of folders, in any order.
    ///
    /// Of the bytes of a list with a line each, sorted: `<digest> <length> <path>` and `folder <path>`. A `RelativePath` holds
    /// no line feed, so no two lists read alike.
    init(listing files: [(path: RelativePath, size: UInt64, digest: SHA256Digest)], folders: [RelativePath] = []) {
        let lines = files.map { "\($0.digest.hex) \($0.size) \($0.path)\n" } + folders.map { "folder \($0)\n" }
        self.init(hashing: Data(lines.sorted().joined().utf8))
    }
}
