import HearthBase
import HearthInference

/// What a model's file says about it, for listings; nothing is loaded for it.
package struct ServedFacts: Sendable, Hashable {
    /// What clients may ask the model for, in the words of Ollama's API.
    package enum Ability: String, Sendable, Hashable, CaseIterable {
        case completion, embedding, tools, thinking, vision, insert
        /// Not a word of Ollama: the model ranks texts.
        case rerank
    }

    /// The network's architecture, such as `llama`; empty if unknown.
    package var architecture = ""
    /// The number of weights; `nil` if unknown.
    package var parameterCount: UInt64?
    /// The storage type of most weights, such as `q4_k_m`; empty if unknown.
    package var quantization = ""
    /// The tokens of the context as it is served on this device; `nil` if unknown.
    package var contextLength: Int?
    package var abilities: [Ability] = []

    package init() {}

    /// The facts of a header.
    /// - Parameters:
    ///   - template: the chat template.
    ///   - hasProjector: whether a projector lets the model read images.
    package init(_ header: GGUFHeader, template: String, hasProjector: Bool) {
        architecture = header.architecture ?? ""
        parameterCount = header.splitCount == 1 ? header.tensors?.parameterCount : nil
        quantization = header.quantization ?? ""
        contextLength = header.contextLength
        guard !header.isEncoderOnly, !header.ranksTexts else {
            abilities = header.ranksTexts ? [.rerank] : [.embedding]
            return
        }
        abilities = [.completion]
        // Without a template of its own for tools, the engine describes them.
        if header.hasChatTemplate { abilities.append(.tools) }
        if template.contains("<think>") || template.contains("enable_thinking") { abilities.append(.thinking) }
        if hasProjector { abilities.append(.vision) }
        let middle = ["tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.prefix_token_id"]
        if middle.contains(where: { header.metadata[$0] != nil }) { abilities.append(.insert) }
    }

    /// The number of weights as people write it: `8.0B`, `135M`; empty if unknown.
    var parameterSize: String {
        guard let parameterCount else { return "" }
        let count = Double(parameterCount)
        let (scaled, unit) = count >= 1e9 ? (count / 1e9, "B") : count >= 1e6 ? (count / 1e6, "M") : (count / 1e3, "K")
        let tenths = (scaled * 10).rounded() / 10
        return unit == "B" ? "\(tenths)B" : "\(Int(scaled.rounded()))\(unit)"
    }
}
