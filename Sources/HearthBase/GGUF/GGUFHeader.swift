import Foundation

/// The header of a GGUF file: format version, metadata, and the sums over the tensors.
///
/// Reads versions 2 and 3, little endian (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>). The header may
/// come from any publisher: every length is checked before it is used, and the memory for reading is limited by the
/// header's own size (``Limits``).
///
/// ```swift
/// let header = try GGUFHeader(file: path)
/// print(header.architecture ?? "?", header.contextLength ?? 0)
/// ```
package struct GGUFHeader: Sendable, Hashable {
    /// The limits of a header; all known models are far below them.
    package struct Limits: Sendable, Hashable {
        /// The most bytes of the whole header.
        package var headerBytes: UInt64 = 64 << 20
        /// The most bytes of a metadata key or tensor name.
        package var nameBytes: UInt64 = 64 << 10
        /// The most bytes of a kept metadata string; longer ones are skipped (``GGUFValue/longString(byteCount:)``).
        package var keptStringBytes: UInt64 = 1 << 20
        /// The most bytes of all kept strings together; later ones are skipped.
        package var keptStringBytesInAll: UInt64 = 8 << 20
        /// The most elements of a kept array; longer ones are skipped and only counted.
        package var keptElements: UInt64 = 256
        /// The most elements of all kept arrays together; later ones are skipped.
        package var keptElementsInAll: UInt64 = 65_536
        /// The most metadata entries.
        package var entries: UInt64 = 65_536
        /// The most tensors.
        package var tensors: UInt64 = 1_000_000
        /// The deepest nesting of arrays.
        package var depth = 4

        /// The limits of this package.
        package init() {}
    }

    /// The part of the header to read.
    package enum Extent: Sendable, Hashable {
        /// Up to the end of the metadata: enough for ``GGUFHeader``'s facts, and for a range fetched from a server.
        case metadata
        /// With the descriptions of the tensors: ``tensors`` is set.
        case tensors
    }

    /// The sums over the descriptions of the tensors.
    package struct Tensors: Sendable, Hashable {
        /// The offset of the tensor data in the file.
        package let dataOffset: UInt64
        /// The number of weights.
        package let parameterCount: UInt64
        /// The bytes of all tensors, without padding; `nil` if this version does not know the type of one.
        package let byteCount: UInt64?
        /// The fewest bytes of a file that contains all tensors; `nil` if ``byteCount`` is.
        package let minimumFileSize: UInt64?
        /// The most bytes of a file that contains the tensors and nothing else: the last one may be followed by the
        /// padding to `general.alignment`, which some writers leave out. `nil` if ``byteCount`` is.
        package let maximumFileSize: UInt64?
    }

    /// The version of the format, 2 or 3.
    package let version: UInt32
    /// The number of tensors in this file.
    package let tensorCount: UInt64
    /// The metadata by key, such as `general.architecture`.
    package let metadata: [String: GGUFValue]
    /// The sums over the tensors, `nil` after reading only the metadata.
    package let tensors: Tensors?

    /// Reads a file's header. Blocks for some milliseconds with a usual vocabulary.
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

    /// Checks that a file ends with its last tensor and the padding behind it. A file with a tensor of a type that this
    /// version does not know is not judged, nor one without tensors, nor one of which only the metadata was read.
    /// - Parameters:
    ///   - size: the bytes of the file.
    ///   - name: the file's name in messages.
    /// - Throws: ``GGUFError`` with `gguf-trailing-bytes`.
    package func checkEnd(ofFile size: UInt64, name: String) throws {
        guard tensorCount > 0, let end = tensors?.maximumFileSize, size > end else { return }
        throw GGUFError(
            .trailingBytes, "\(name) goes on for \(size - end) bytes behind its last tensor",
            context: ErrorContext(
                file: name, expected: "at most \(end) bytes", found: "\(size) bytes",
                remedy: "These bytes belong to no model: its publisher must write the file again."))
    }

    /// Reads a header from the first bytes of a file in memory, such as a range fetched from a server.
    ///
    /// - Parameters:
    ///   - data: the first bytes of the file; bytes after the header are ignored.
    ///   - name: the file's name in messages.
    ///   - extent: the part of the header to read.
    ///   - limits: the limits of the header.
    /// - Throws: ``GGUFError`` as for a file; `gguf-truncated` can also mean that more bytes are needed.
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
