import Foundation

/// The digests of a file's chunks, so that each chunk is verified on arrival, repaired alone, and reused from an older
/// version.
///
/// The bytes (`.index`), little endian: `HIDX`, u8 version 1, u8 kind, u16 zero, u64 file size, u32 count, then for each
/// chunk u32 length and its 32-byte SHA-256. The index's own digest is in the manifest.
package struct ChunkIndex: Sendable, Hashable {
    /// How a file is divided into chunks.
    package enum Kind: UInt8, Sendable, Hashable {
        /// Chunks of equal length, the last one shorter.
        case fixed = 0
        /// Chunks whose ends are determined by the content.
        case contentDefined = 1
    }

    /// A chunk of the file.
    package struct Chunk: Sendable, Hashable {
        package let offset: UInt64
        package let length: UInt32
        package let digest: SHA256Digest
    }

    package let kind: Kind
    /// The chunks in order, without gap or overlap.
    package let chunks: [Chunk]
    /// The length of the whole file.
    package let fileSize: UInt64

    /// The length of published fixed chunks: 8 MiB.
    package static let fixedLength: UInt32 = 8 << 20
    /// The most chunks of an index; with fixed chunks, a file of 8 TiB.
    package static let maximumCount = 1 << 20
    static let headerSize = 20
    static let entrySize = 4 + SHA256Digest.byteCount
    /// The most bytes of an index.
    package static let maximumEncodedSize = headerSize + maximumCount * entrySize

    /// Makes an index of chunks of the given lengths, in order.
    package init(kind: Kind, lengths: [(length: UInt32, digest: SHA256Digest)]) {
        var offset: UInt64 = 0
        var chunks: [Chunk] = []
        chunks.reserveCapacity(lengths.count)
        for (length, digest) in lengths {
            chunks.append(Chunk(offset: offset, length: length, digest: digest))
            offset += UInt64(length)
        }
        self.kind = kind
        self.chunks = chunks
        fileSize = offset
    }
}

// MARK: - The bytes of an index

extension ChunkIndex {
    private static let magic = Array("HIDX".utf8)
    private static let version: UInt8 = 1

    /// The bytes of the index.
    package var encoded: Data {
        var bytes = Self.magic + [Self.version, kind.rawValue, 0, 0]
        bytes.reserveCapacity(Self.headerSize + chunks.count * Self.entrySize)
        bytes.append(littleEndian: fileSize)
        bytes.append(littleEndian: UInt32(chunks.count))
        for chunk in chunks {
            bytes.append(littleEndian: chunk.length)
            bytes += chunk.digest.bytes
        }
        return Data(bytes)
    }

    /// Reads the bytes of an index.
    /// - Parameters:
    ///   - data: the whole index.
    ///   - expectedFileSize: the file's length in the manifest.
    /// - Throws: ``DigestError`` with `index-invalid` unless all values are consistent.
    package init(encoded data: Data, expectedFileSize: UInt64? = nil) throws(DigestError) {
        let bytes = [UInt8](data.prefix(Self.maximumEncodedSize + 1))
        guard bytes.count >= Self.headerSize, bytes.starts(with: Self.magic) else {
            throw Self.invalid("it does not begin like one", expected: "HIDX", found: "\(data.count) other bytes")
        }
        guard bytes[4] == Self.version else {
            throw Self.invalid("its version is unknown", expected: "\(Self.version)", found: "\(bytes[4])")
        }
        guard let kind = Kind(rawValue: bytes[5]), bytes[6] == 0, bytes[7] == 0 else {
            throw Self.invalid("its kind is unknown", expected: "0 or 1", found: "\(bytes[5])")
        }
        let fileSize = UInt64(littleEndian: bytes[8..<16])
        let count = Int(UInt64(littleEndian: bytes[16..<20]))
        guard count <= Self.maximumCount else {
            throw Self.invalid("it has too many chunks", expected: "at most \(Self.maximumCount)", found: "\(count)")
        }
        let size = Self.headerSize + count * Self.entrySize
        guard data.count == size else {
            throw Self.invalid("its length is wrong", expected: "\(size) bytes", found: "\(data.count) bytes")
        }
        if let expectedFileSize, expectedFileSize != fileSize {
            throw Self.invalid(
                "it is of another file", expected: "\(expectedFileSize) bytes", found: "\(fileSize) bytes")
        }

        var lengths: [(length: UInt32, digest: SHA256Digest)] = []
        lengths.reserveCapacity(count)
        for start in stride(from: Self.headerSize, to: size, by: Self.entrySize) {
            let length = UInt32(UInt64(littleEndian: bytes[start..<start + 4]))
            guard let digest = SHA256Digest(bytes: bytes[start + 4..<start + Self.entrySize]), length > 0 else {
                throw Self.invalid("a chunk is empty", expected: "1 byte or more", found: "chunk \(lengths.count)")
            }
            lengths.append((length, digest))
        }
        if kind == .fixed, let first = lengths.first, let last = lengths.last {
            guard lengths.dropLast().allSatisfy({ $0.length == first.length }), last.length <= first.length else {
                throw Self.invalid(
                    "its chunks differ in length", expected: "\(first.length) bytes each", found: "others")
            }
        }
        self.init(kind: kind, lengths: lengths)
        guard self.fileSize == fileSize else {
            throw Self.invalid(
                "its chunks do not make up the file", expected: "\(fileSize) bytes", found: "\(self.fileSize) bytes")
        }
    }

    fileprivate static func invalid(_ problem: String, expected: String, found: String) -> DigestError {
        DigestError(
            .indexInvalid, "the chunk index cannot be used: \(problem)",
            context: ErrorContext(expected: expected, found: found, remedy: "The publisher must write it again."))
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

extension UInt64 {
    fileprivate init(littleEndian bytes: ArraySlice<UInt8>) {
        self = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

// MARK: - Making one

/// Hashes a file in one pass, as a whole and in chunks of a fixed length.
package struct ChunkIndexBuilder: ~Copyable {
    private let length: UInt32
    private var whole = SHA256Hasher()
    private var chunk = SHA256Hasher()
    private var filled: UInt32 = 0
    private var lengths: [(length: UInt32, digest: SHA256Digest)] = []

    /// Starts a file of chunks of `length` bytes.
    package init(length: UInt32 = ChunkIndex.fixedLength) { self.length = max(1, length) }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        whole.update(bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(rest.count, Int(length - filled))
            chunk.update(UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            filled += UInt32(count)
            rest = rest.dropFirst(count)
            if filled == length { endChunk() }
        }
    }

    /// The index, and the digest of the whole file.
    /// - Throws: ``DigestError`` with `index-invalid` for a file of more than ``ChunkIndex/maximumCount`` chunks.
    package consuming func finalize() throws(DigestError) -> (index: ChunkIndex, digest: SHA256Digest) {
        if filled > 0 { endChunk() }
        guard lengths.count <= ChunkIndex.maximumCount else {
            throw ChunkIndex.invalid(
                "the file is too large", expected: "at most \(ChunkIndex.maximumCount) chunks",
                found: "\(lengths.count) chunks")
        }
        return (ChunkIndex(kind: .fixed, lengths: lengths), whole.finalize())
    }

    private mutating func endChunk() {
        var ended = SHA256Hasher()
        swap(&ended, &chunk)
        lengths.append((filled, ended.finalize()))
        filled = 0
    }
}
