extension GGUFHeader {
    /// The files of the model, of which this is the header of the first: that file, or all parts of a split model. They
    /// are in the same folder under the names that `llama-gguf-split` writes and llama.cpp expects.
    /// - Parameter path: the file of this header.
    /// - Returns: `nil` for a part that is not the first or has another name, and for more than
    ///   ``ShardName/maximumCount`` parts.
    package func parts(at path: Path) -> [Path]? {
        guard splitCount > 1 else { return [path] }
        guard splitIndex == 0, splitCount <= ShardName.maximumCount, path.fileExtension == "gguf",
            let shard = PathComponent(path.lastComponent).flatMap({ ShardName(RelativePath($0)) }),
            shard.number == 1, shard.count == splitCount
        else { return nil }
        return [path] + shard.paths(beside: path).dropFirst()
    }

    /// The length of all files of the model, in bytes. Blocks.
    /// - Parameter path: the file of this header.
    /// - Returns: `nil` unless all files exist; at most the largest file length.
    package func fileBytes(at path: Path, fileSystem: any FileSystem = LocalFileSystem()) -> UInt64? {
        guard let parts = parts(at: path) else { return nil }
        var sum: UInt64 = 0
        for part in parts {
            // The code that opens the part reports why it cannot be read.
            guard let size = (try? fileSystem.status(at: part, followLinks: true))?.size else { return nil }
            // Sparse files use no space, so the sum of the declared lengths can overflow.
            sum = sum.addingSaturating(size)
        }
        return min(sum, UInt64(Int64.max))
    }
}
