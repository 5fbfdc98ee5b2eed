import Foundation

@testable import HearthBase
@testable import HearthImport

/// `tokenizer.json`, which becomes the vocabulary of a file that llama.cpp reads: it ends the process at a text that two
/// tokens share.
func fuzzTokenizer(_ data: Data) {
    checkVocabulary(TokenizerFiles(tokenizer: data))
    // The same bytes as each of the small documents beside it.
    for keyPath: WritableKeyPath<TokenizerFiles, Data?> in [\.configuration, \.generation, \.model, \.template] {
        var files = TokenizerFiles(tokenizer: plainTokenizer)
        files[keyPath: keyPath] = data
        checkVocabulary(files)
    }
}

/// `tokenizer.model`.
func fuzzSentencePiece(_ data: Data) {
    checkVocabulary(TokenizerFiles(sentencePiece: data))
}

private let plainTokenizer = Data(
    #"""
    {"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
    "model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}
    """#.utf8)

private func checkVocabulary(_ files: TokenizerFiles) {
    guard let imported = typed({ try TokenizerImport(files, vocabularySize: nil, architecture: "llama") }) else {
        return
    }
    var counts: [String: Int] = [:]
    var keys = Set<String>()
    for (key, value) in imported.metadata {
        precondition(keys.insert(key).inserted, "a key is written twice")
        switch value {
        case .array(let array):
            counts[key] = array.elements?.count
            guard key == "tokenizer.ggml.tokens" else { continue }
            let texts = array.elements?.compactMap(\.text).map { Array($0.utf8) } ?? []
            precondition(Set(texts).count == imported.tokenCount, "two tokens have one text")
            precondition(texts.allSatisfy { !$0.isEmpty && !$0.contains(0) }, "a token is empty or has a zero byte")
        case .uint32(let number): precondition(number < imported.tokenCount, "a number of no token came through")
        default: continue
        }
    }
    precondition(counts["tokenizer.ggml.token_type"] == imported.tokenCount, "a token has no kind")
    precondition(counts["tokenizer.ggml.scores"].map { $0 == imported.tokenCount } ?? true, "a token has no score")
}
