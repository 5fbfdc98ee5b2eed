import Foundation
import HearthBase
import HearthInference

/// The computed state of one conversation, or of a part of it, as a file.
///
/// ```text
/// "HKVS"  u32 version  SHA-256 of all that follows  u32 length of the maker  the maker
/// u32 count of tokens  the tokens, i32 each  u64 length of the state  the state      (little endian)
/// ```
/// Version 2 has a part of a conversation: before the length of the state, the number of tokens (u32) whose state other
/// files have.
///
/// llama.cpp ends the process when it reads a state that it did not write, so a file with a wrong digest is never
/// passed to it. The file is a cache: it is not synced, and one that a power cut has damaged is not used.
struct StateFile: Sendable, Hashable {
    static let magic = Array("HKVS".utf8)
    /// The version of a whole conversation, and that of a part.
    static let (version, partVersion): (UInt32, UInt32) = (1, 2)
    static let suffix = ".state"

    var maker: String
    /// All tokens up to the end of the state.
    var tokens: [TokenID]
    /// The tokens whose state others have; the state is that of the tokens after them.
    var start = 0
    var state: Data

    private static let headLength = 8 + SHA256Digest.byteCount
    private static let makerLimit = 1 << 10

    /// The length of the file in bytes.
    var byteCount: UInt64 {
        UInt64(Self.headLength + maker.utf8.count + tokens.count * 4 + state.count + (start > 0 ? 20 : 16))
    }

    /// Names the tokens and their maker.
    var digestOfTokens: SHA256Digest {
        var hasher = SHA256Hasher()
        tokens.withUnsafeBytes { hasher.update($0) }
        Array(maker.utf8).withUnsafeBytes { hasher.update($0) }
        return hasher.finalize()
    }

    /// Writes the file without copying the state, which may have a gigabyte. The digest is written last; a file
    /// without it cannot be used.
    /// - Throws: ``FileError``.
    func write(to file: OpenFile, _ fileSystem: any FileSystem) throws {
        var head = Self.magic + (start > 0 ? Self.partVersion : Self.version).littleEndianBytes
        let digestOffset = head.count
        head += [UInt8](repeating: 0, count: SHA256Digest.byteCount)
        head += UInt32(maker.utf8.count).littleEndianBytes
        head += maker.utf8
        head += UInt32(tokens.count).littleEndianBytes
        for token in tokens { head += UInt32(bitPattern: token).littleEndianBytes }
        if start > 0 { head += UInt32(start).littleEndianBytes }
        head += UInt64(state.count).littleEndianBytes
        var hasher = SHA256Hasher()
        try head.withUnsafeBytes { bytes in
            hasher.update(UnsafeRawBufferPointer(rebasing: bytes[Self.headLength...]))
            // The file begins like a state from its first byte, so that an unfinished one is found and counted.
            try fileSystem.write(file, bytes, at: 0)
        }
        try state.withUnsafeBytes { bytes in
            hasher.update(bytes)
            try fileSystem.write(file, bytes, at: UInt64(head.count))
        }
        let digest = hasher.finalize()
        try digest.bytes.withUnsafeBytes { try fileSystem.write(file, $0, at: UInt64(digestOffset)) }
    }

    /// The content of a file's first bytes, before the digest is checked.
    enum Front: Sendable, Hashable {
        /// Another file, or a state for others: of another model, with more tokens than this window, or of a later
        /// version.
        case foreign
        /// A state that no model can use.
        case broken
        case usable(tokens: [TokenID], start: Int = 0)
    }

    /// Reads the front of a file.
    /// - Parameters:
    ///   - data: the file's first ``frontLength(tokens:)`` bytes, or all of them.
    ///   - size: the bytes of the file.
    ///   - maker: the maker of usable states.
    ///   - window: the context window; usable states have fewer tokens.
    static func front(of data: Data, size: UInt64, maker: String, window: Int) -> Front {
        guard isState(data) else { return .foreign }
        var reader = Reader(data.dropFirst(magic.count))
        guard let number = reader.number(UInt32.self) else { return .broken }
        guard number == version || number == partVersion else { return .foreign }
        guard reader.skip(SHA256Digest.byteCount), let found = reader.maker() else { return .broken }
        guard found == maker else { return .foreign }
        guard let count = reader.number(UInt32.self) else { return .broken }
        // Checked before the window: a count too large for the file is damage and not a large state.
        let rest = number == partVersion ? 20 : 16
        let end = UInt64(headLength + maker.utf8.count + rest) + UInt64(count) * 4
        guard size >= end else { return .broken }
        guard Int(count) < window else { return .foreign }
        guard let tokens = reader.tokens(count), let start = reader.start(number, below: tokens.count),
            reader.number(UInt64.self) == size - end
        else { return .broken }
        return .usable(tokens: tokens, start: start)
    }

    /// Whether the first bytes of a file belong to a state of any version.
    static func isState(_ data: Data) -> Bool { data.prefix(magic.count).elementsEqual(magic) }

    /// The most bytes that ``front(of:size:maker:window:)`` needs for a number of tokens.
    static func frontLength(tokens: Int) -> Int { headLength + makerLimit + tokens * 4 + 20 }

    /// Reads little-endian numbers from the front; `nil` past the end.
    fileprivate struct Reader {
        var rest: Data.SubSequence

        init(_ data: Data.SubSequence) { rest = data }

        mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
            let size = MemoryLayout<Number>.size
            guard rest.count >= size else { return nil }
            let value = rest.prefix(size).reversed().reduce(Number(0)) { $0 << 8 | Number(truncatingIfNeeded: $1) }
            rest = rest.dropFirst(size)
            return value
        }

        mutating func skip(_ count: Int) -> Bool {
            guard rest.count >= count else { return false }
            rest = rest.dropFirst(count)
            return true
        }

        mutating func maker() -> String? {
            guard let length = number(UInt32.self), length <= StateFile.makerLimit, rest.count >= Int(length)
            else { return nil }
            defer { rest = rest.dropFirst(Int(length)) }
            return String(decoding: rest.prefix(Int(length)), as: UTF8.self)
        }

        mutating func tokens(_ count: UInt32) -> [TokenID]? {
            guard rest.count / 4 >= Int(count) else { return nil }
            var tokens: [TokenID] = []
            tokens.reserveCapacity(Int(count))
            for _ in 0..<count {
                guard let token = number(UInt32.self) else { return nil }
                tokens.append(TokenID(bitPattern: token))
            }
            return tokens
        }

        /// The first token of a state, at least 1 and less than `count` in a file with a part.
        mutating func start(_ version: UInt32, below count: Int) -> Int? {
            guard version == StateFile.partVersion else { return 0 }
            guard let start = number(UInt32.self), start > 0, start < count else { return nil }
            return Int(start)
        }
    }
}

extension StateFile {
    /// Reads the bytes of a file. Returns `nil` if any byte differs from the written ones. The state shares the
    /// memory of `data`.
    init?(decoding data: Data) {
        guard data.count > Self.headLength, data.prefix(4).elementsEqual(Self.magic) else { return nil }
        let body = data.dropFirst(Self.headLength)
        let digest = SHA256Digest(bytes: data.dropFirst(8).prefix(SHA256Digest.byteCount))
        guard digest == SHA256Digest(hashing: body) else { return nil }
        var reader = Reader(data.dropFirst(4))
        guard let version = reader.number(UInt32.self), version == Self.version || version == Self.partVersion,
            reader.skip(SHA256Digest.byteCount),
            let maker = reader.maker(), let count = reader.number(UInt32.self), let tokens = reader.tokens(count),
            let start = reader.start(version, below: tokens.count),
            let length = reader.number(UInt64.self), length == UInt64(reader.rest.count)
        else { return nil }
        self.init(maker: maker, tokens: tokens, start: start, state: reader.rest)
    }
}

extension FixedWidthInteger {
    fileprivate var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
