extension GGUFHeader {
    /// The files that hold the model, of which this is the header of the first: that file, or with it the others of a split model. They
    /// lie beside it under the names that `llama-gguf-split` gives them and llama.cpp looks for.
    /// - Parameter path: where this header was read.
    /// - Returns: `nil` for a part that is not the first, or is not called so, and for more than ``ShardName/maximumCount`` parts.
    package func parts(at path: Path) -> [Path]? {
        guard splitCount > 1 else { return [path] }
        guard splitIndex == 0, splitCount <= ShardName.maximumCount, path.fileExtension == "gguf",
            let shard = PathComponent(path.lastComponent).flatMap({ ShardName(RelativePath($0)) }),
            shard.number == 1, shard.count == splitCount
        else { return nil }
        return [path] + shard.paths(beside: path).dropFirst()
    }

    /// The length of all files that hold the model, in bytes. Blocks.
    /// - Parameter path: where this header was read.
    /// - Returns: `nil` unless all of them are there, and never more than the longest file may have.
    package func fileBytes(at path: Path, fileSystem: any FileSystem = LocalFileSystem()) -> UInt64? {
        guard let parts = parts(at: path) else { return nil }
        var sum: UInt64 = 0
        for part in parts {
            // The code that opens the part tells why it cannot be read.
            guard let size = (try? fileSystem.status(at: part, followLinks: true))?.size else { return nil }
            // Headers and holes cost nothing: what files claim to be long need not be so together.
            sum = sum.addingSaturating(size)
        }
        return min(sum, UInt64(Int64.max))
    }
}
