import Foundation
import HearthBase

/// A `tokenizer.model`: a SentencePiece model (`sentencepiece_model.proto`), read and checked.
struct SentencePieceFile: Sendable {
    static let name = "tokenizer.model"

    /// A token of the model.
    struct Piece: Sendable {
        var text = TokenText("")
        var score: Float = 0
        var kind = TokenKind.normal
    }

    private(set) var pieces: [Piece] = []
    /// The number of the model's kind; 2 is byte pair encoding.
    private(set) var modelKind = 1
    private(set) var beginning = 1
    private(set) var end = 2
    /// The name of the rules by which characters are replaced.
    private(set) var normalizer = ""
    private(set) var hasCharacterMap = false
    private(set) var addsBlank = true
    private(set) var removesBlanks = true
    private(set) var writesBlanks = true

    /// Reads a file.
    /// - Throws: `damaged`.
    init(_ data: Data) throws(ImportError) {
        guard data.count <= TokenizerLimits.fileBytes else {
            throw .damaged(
                "it is too large", file: Self.name, expected: "at most \(TokenizerLimits.fileBytes) bytes",
                found: "\(data.count) bytes")
        }
        var reader = WireReader(Array(data)[...], name: Self.name)
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let bytes)):
                guard pieces.count < TokenizerLimits.tokens else {
                    throw .damaged("it has more than \(TokenizerLimits.tokens) tokens", file: Self.name)
                }
                pieces.append(try Self.piece(bytes))
            case (2, .bytes(let bytes)): try readTrainer(bytes)
            case (3, .bytes(let bytes)): try readNormalizer(bytes)
            default: continue
            }
        }
        guard !pieces.isEmpty else { throw .damaged("it has no tokens", file: Self.name) }
    }

    private static func piece(_ bytes: ArraySlice<UInt8>) throws(ImportError) -> Piece {
        var reader = WireReader(bytes, name: name)
        var piece = Piece()
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let bytes)): piece.text = TokenText(try reader.text(bytes))
            case (2, .four(let bits)): piece.score = Float(bitPattern: bits)
            case (3, .integer(let number)):
                guard let kind = Int32(exactly: number).flatMap(TokenKind.init) else {
                    throw .damaged("a token has the unknown kind \(number)", file: name)
                }
                piece.kind = kind
            default: continue
            }
        }
        guard piece.score.isFinite else { throw .damaged("the score of a token is no number", file: name) }
        return piece
    }

    private mutating func readTrainer(_ bytes: ArraySlice<UInt8>) throws(ImportError) {
        var reader = WireReader(bytes, name: Self.name)
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (3, .integer(let number)): modelKind = Int(clamping: number)
            case (41, .integer(let number)): beginning = Int(Int32(truncatingIfNeeded: number))
            case (42, .integer(let number)): end = Int(Int32(truncatingIfNeeded: number))
            default: continue
            }
        }
    }

    private mutating func readNormalizer(_ bytes: ArraySlice<UInt8>) throws(ImportError) {
        var reader = WireReader(bytes, name: Self.name)
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let bytes)): normalizer = try reader.text(bytes)
            case (2, .bytes(let bytes)): hasCharacterMap = !bytes.isEmpty
            case (3, .integer(let number)): addsBlank = number != 0
            case (4, .integer(let number)): removesBlanks = number != 0
            case (5, .integer(let number)): writesBlanks = number != 0
            default: continue
            }
        }
    }
}

/// Reads the fields of one message in the wire format of protocol buffers.
struct WireReader {
    enum Value {
        case integer(UInt64)
        case bytes(ArraySlice<UInt8>)
        case four(UInt32)
        case eight
    }

    private var rest: ArraySlice<UInt8>
    private let name: String

    init(_ bytes: ArraySlice<UInt8>, name: String) {
        rest = bytes
        self.name = name
    }

    /// The next field; `nil` at the end.
    mutating func next() throws(ImportError) -> (number: Int, value: Value)? {
        guard !rest.isEmpty else { return nil }
        let tag = try integer()
        let number = Int(clamping: tag >> 3)
        switch tag & 7 {
        case 0: return (number, .integer(try integer()))
        case 1:
            _ = try take(8)
            return (number, .eight)
        case 2: return (number, .bytes(try take(try integer())))
        case 5: return (number, .four(try take(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }))
        default: throw failure("it is no SentencePiece model")
        }
    }

    /// The text of a field's bytes.
    func text(_ bytes: ArraySlice<UInt8>) throws(ImportError) -> String {
        guard bytes.count <= TokenizerLimits.tokenBytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw failure("a text is too long or not UTF-8")
        }
        return text
    }

    private mutating func integer() throws(ImportError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = rest.popFirst() else { throw failure("it ends too early") }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw failure("a number is too large")
    }

    private mutating func take(_ count: UInt64) throws(ImportError) -> ArraySlice<UInt8> {
        guard count <= UInt64(rest.count) else { throw failure("it ends too early") }
        let taken = rest.prefix(Int(count))
        rest = rest.dropFirst(Int(count))
        return taken
    }

    private func failure(_ problem: String) -> ImportError { .damaged(problem, file: name) }
}
