#if Llama
    import Foundation
    import HearthBase
    import HearthInference

    /// The computed state of one conversation as a file.
    ///
    /// ```text
    /// "HKVS"  u32 version  SHA-256 of all that follows  u32 length of the maker  the maker
    /// u32 count of tokens  the tokens, i32 each  u64 length of the state  the state      (little endian)
    /// ```
    /// llama.cpp ends the process over states it did not write, so nothing reaches it whose digest is wrong. The file is a
    /// cache: it is not brought to the disk with force, and one that a power cut has torn is a cold start.
    struct StateFile: Sendable, Hashable {
        static let magic = Array("HKVS".utf8)
        static let version: UInt32 = 1
        static let suffix = ".state"

        var maker: String
        var tokens: [TokenID]
        var state: [UInt8]

        private static let headLength = 8 + SHA256Digest.byteCount
        private static let makerLimit = 1 << 10

        /// The bytes of the file.
        var encoded: Data {
            var body = Data(capacity: maker.utf8.count + tokens.count * 4 + state.count + 16)
            body.append(contentsOf: UInt32(maker.utf8.count).littleEndianBytes)
            body.append(contentsOf: maker.utf8)
            body.append(contentsOf: UInt32(tokens.count).littleEndianBytes)
            for token in tokens { body.append(contentsOf: UInt32(bitPattern: token).littleEndianBytes) }
            body.append(contentsOf: UInt64(state.count).littleEndianBytes)
            body.append(contentsOf: state)
            var data = Data(Self.magic)
            data.append(contentsOf: Self.version.littleEndianBytes)
            data.append(contentsOf: SHA256Digest(hashing: body).bytes)
            data.append(body)
            return data
        }

        /// Reads the bytes of a file; `nil` unless every byte is as it was written.
        init?(decoding data: Data) {
            guard data.count > Self.headLength, data.prefix(4).elementsEqual(Self.magic) else { return nil }
            let body = data.dropFirst(Self.headLength)
            let digest = SHA256Digest(bytes: data.dropFirst(8).prefix(SHA256Digest.byteCount))
            guard digest == SHA256Digest(hashing: Data(body)) else { return nil }
            var reader = Reader(data.dropFirst(4))
            guard reader.number(UInt32.self) == Self.version, reader.skip(SHA256Digest.byteCount),
                let front = reader.front(limit: data.count), let length = reader.number(UInt64.self),
                length == UInt64(reader.rest.count)
            else { return nil }
            (maker, tokens, state) = (front.maker, front.tokens, [UInt8](reader.rest))
        }

        init(maker: String, tokens: [TokenID], state: [UInt8]) {
            self.maker = maker
            self.tokens = tokens
            self.state = state
        }

        /// Whose state it is and which tokens it has, from the first bytes of a file, nothing of which is proved yet.
        static func front(of data: Data, limit: Int) -> (maker: String, tokens: [TokenID])? {
            guard data.prefix(4).elementsEqual(magic) else { return nil }
            var reader = Reader(data.dropFirst(4))
            guard reader.number(UInt32.self) == version, reader.skip(SHA256Digest.byteCount) else { return nil }
            return reader.front(limit: limit)
        }

        /// The bytes that ``front(of:limit:)`` needs at most for so many tokens.
        static func frontLength(tokens: Int) -> Int { headLength + 8 + makerLimit + tokens * 4 }

        /// Takes little-endian numbers off the front; `nil` past the end.
        private struct Reader {
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

            mutating func front(limit: Int) -> (maker: String, tokens: [TokenID])? {
                guard let length = number(UInt32.self), length <= StateFile.makerLimit, rest.count >= Int(length)
                else { return nil }
                let maker = String(decoding: rest.prefix(Int(length)), as: UTF8.self)
                rest = rest.dropFirst(Int(length))
                guard let count = number(UInt32.self), Int(count) <= limit, rest.count / 4 >= Int(count) else {
                    return nil
                }
                var tokens: [TokenID] = []
                tokens.reserveCapacity(Int(count))
                for _ in 0..<count {
                    guard let token = number(UInt32.self) else { return nil }
                    tokens.append(TokenID(bitPattern: token))
                }
                return (maker, tokens)
            }
        }
    }

    extension FixedWidthInteger {
        fileprivate var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
    }
#endif
