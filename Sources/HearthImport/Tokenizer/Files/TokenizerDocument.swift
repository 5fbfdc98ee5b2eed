import Foundation
import HearthBase

/// A `tokenizer.json`, read and checked, but without judgement of its rules.
struct TokenizerDocument: Sendable {
    static let name = "tokenizer.json"

    /// `null` where the file has none.
    private(set) var normalizer = JSONValue.null
    private(set) var preTokenizer = JSONValue.null
    private(set) var postProcessor = JSONValue.null
    private(set) var addedTokens: [AddedToken] = []
    private(set) var model = MergeModel()

    /// Reads a file.
    /// - Throws: `damaged`; `incompatible` for another model than BPE.
    init(_ data: Data) throws(ImportError) {
        guard data.count <= TokenizerLimits.fileBytes else {
            throw .damaged(
                "it is too large", file: Self.name, expected: "at most \(TokenizerLimits.fileBytes) bytes",
                found: "\(data.count) bytes")
        }
        let result = data.withUnsafeBytes { bytes -> Result<Self, ImportError> in
            Result { () throws(ImportError) in try Self(reading: bytes) }
        }
        self = try result.get()
    }

    private init(reading bytes: UnsafeRawBufferPointer) throws(ImportError) {
        var reader = JSONReader(bytes, name: Self.name)
        var seen = Set<TokenText>()
        var document = Document()
        try reader.object { (reader, key) throws(ImportError) in
            guard seen.insert(key).inserted else { throw reader.failure("the key \(key.text.quoted) appears twice") }
            switch key.text {
            case "normalizer": document.normalizer = try reader.value()
            case "pre_tokenizer": document.preTokenizer = try reader.value()
            case "post_processor": document.postProcessor = try reader.value()
            case "added_tokens":
                guard reader.next == UInt8(ascii: "[") else { return try reader.skip() }
                try reader.array { (reader) throws(ImportError) in
                    document.addedTokens.append(try AddedToken(try reader.value(limit: 1 << 16), name: Self.name))
                    guard document.addedTokens.count <= TokenizerLimits.tokens else {
                        throw reader.failure("it has more than \(TokenizerLimits.tokens) added tokens")
                    }
                }
            case "model": document.model = try MergeModel(&reader)
            default: try reader.skip()
            }
        }
        try reader.end()
        guard let model = document.model else { throw reader.failure("it has no model") }
        normalizer = document.normalizer
        preTokenizer = document.preTokenizer
        postProcessor = document.postProcessor
        addedTokens = document.addedTokens
        self.model = model
    }

    private struct Document {
        var normalizer = JSONValue.null
        var preTokenizer = JSONValue.null
        var postProcessor = JSONValue.null
        var addedTokens: [AddedToken] = []
        var model: MergeModel?
    }
}
