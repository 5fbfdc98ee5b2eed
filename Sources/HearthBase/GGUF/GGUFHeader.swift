import Foundation

/// What a GGUF file says of itself before the weights begin: format version, metadata, and what the tensors add up to.
///
/// Reads versions 2 and 3, little endian (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>). The header may
/// come from any publisher: every length is checked before it is used, and reading takes no more memory than the header's own
/// size allows (``Limits``).
///
/// ```swift
/// let header = try GGUFHeader(file: path)
/// print(header.architecture ?? "?", header.contextLength ?? 0)
/// ```
package struct GGUFHeader: Sendable, Hashable {
    /// The caps on a header. No model seen in the wild comes near any of them.
    package struct Limits: Sendable, Hashable {
        /// The bytes of the whole header.
        package var headerBytes: UInt64 = 64 << 20
        /// The bytes of a metadata key or tensor name.
        package var nameBytes: UInt64 = 64 << 10
        /// Longer metadata strings are passed over (``GGUFValue/longString(byteCount:)``).
        package var keptStringBytes: UInt64 = 1 << 20
        /// The bytes of all kept strings together; what comes later is passed over.
        package var keptStringBytesInAll: UInt64 = 8 << 20
        /// Arrays of more elements are passed over and only counted.
        package var keptElements: UInt64 = 256
        /// The elements kept of all arrays together; what comes later is passed over.
        package var keptElementsInAll: UInt64 = 65_536
        /// The metadata entries.
        package var entries: UInt64 = 65_536
        /// The tensors.
        package var tensors: UInt64 = 1_000_000
        /// How deep arrays may lie inside arrays.
        package var depth = 4

        /// The limits this package uses everywhere.
        package init() {}
    }

    /// How far to read.
    package enum Extent: Sendable, Hashable {
        /// Up to the end of the metadata: enough for the questions people ask, and for a range fetched from a server.
        case metadata
        /// With the descriptions of the tensors: ``tensors`` is known.
        case tensors
    }

    /// What the descriptions of the tensors add up to.
    package struct Tensors: Sendable, Hashable {
        /// Where the tensor data begins in the file.
        package let dataOffset: UInt64
        /// The number of weights.
        package let parameterCount: UInt64
        /// The bytes of all tensors, without padding; `nil` if one has a type this version does not know.
        package let byteCount: UInt64?
        /// The fewest bytes the file must have to hold them all; `nil` as ``byteCount``.
        package let minimumFileSize: UInt64?
    }

    /// The version of the format, 2 or 3.
    package let version: UInt32
    /// The number of tensors in this file.
    package let tensorCount: UInt64
    /// The metadata by key, such as `general.architecture`.
    package let metadata: [String: GGUFValue]
    /// What the tensors add up to, `nil` after reading the metadata only.
    package let tensors: Tensors?

    /// Reads a file's header. Blocks: some milliseconds for a usual vocabulary.
    /// - Throws: ``GGUFError``: `not-gguf`, `gguf-truncated`, `gguf-corrupt`, `gguf-unsupported-version`,
    ///   `gguf-header-too-large`; ``FileError``.
    package init(
        file path: Path, fileSystem: any FileSystem = LocalFileSystem(), extent: Extent = .tensors,
        limits: Limits = Limits()
    ) throws {
        let file = try fileSystem.open(path, .read)
        let size = try fileSystem.status(of: file).size
        let cursor = GGUFCursor(name: path.string, size: size, limit: limits.headerBytes) { buffer, offset in
            try fileSystem.read(file, into: buffer, at: offset)
        }
        try self.init(cursor, extent: extent, limits: limits)
    }

    /// Reads a header from the front of a file at hand, such as a range fetched from a server.
    ///
    /// - Parameters:
    ///   - data: the first bytes of the file; what follows the header is not looked at.
    ///   - name: what messages call it.
    ///   - extent: how far to read.
    ///   - limits: the most that is read and kept.
    /// - Throws: ``GGUFError`` as for a file; `gguf-truncated` may just mean that more bytes are needed.
    package init(data: Data, name: String = "the model", extent: Extent = .tensors, limits: Limits = Limits()) throws {
        let cursor = GGUFCursor(name: name, size: UInt64(data.count), limit: limits.headerBytes) { buffer, offset in
            let start = data.startIndex + Int(offset)
            return data.copyBytes(to: buffer, from: start..<min(start + buffer.count, data.endIndex))
        }
        try self.init(cursor, extent: extent, limits: limits)
    }

    private init(_ start: GGUFCursor, extent: Extent, limits: Limits) throws {
        var parser = GGUFParser(cursor: start, limits: limits)
        let counts = try parser.readPreamble()
        version = counts.version
        tensorCount = counts.tensors
        metadata = try parser.readMetadata(count: counts.entries)
        tensors = extent == .metadata ? nil : try parser.readTensors(count: counts.tensors, metadata: metadata)
    }
}
