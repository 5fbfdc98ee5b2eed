/// The marks around a model's thinking before its answer.
package struct ThinkingTags: Sendable, Hashable, Codable {
    /// The text that begins the thinking, such as `<think>`.
    package var opening: String
    /// The text that ends the thinking, such as `</think>`.
    package var closing: String

    /// Makes a pair. A pair with an empty mark is ignored.
    package init(opening: String, closing: String) {
        self.opening = opening
        self.closing = closing
    }

    /// `<think>…</think>`: Qwen 3 and 3.5, DeepSeek R1 and its distillations, SmolLM 3 and many more.
    package static let think = ThinkingTags(opening: "<think>", closing: "</think>")
    /// `<thinking>…</thinking>`.
    package static let thinking = ThinkingTags(opening: "<thinking>", closing: "</thinking>")
    /// `[THINK]…[/THINK]`: Mistral's reasoning models.
    package static let brackets = ThinkingTags(opening: "[THINK]", closing: "[/THINK]")
    /// `◁think▷…◁/think▷`: Kimi's vision models.
    package static let triangles = ThinkingTags(opening: "◁think▷", closing: "◁/think▷")
    /// `<seed:think>…</seed:think>`: Seed-OSS.
    package static let seed = ThinkingTags(opening: "<seed:think>", closing: "</seed:think>")

    /// The default pairs of a request.
    package static let `default`: [ThinkingTags] = [.think]

    /// All pairs of this package.
    package static let known: [ThinkingTags] = [.think, .thinking, .brackets, .triangles, .seed]

    /// The known pairs in a chat template; ``default`` if it contains none.
    package static func named(in template: String) -> [ThinkingTags] {
        let found = known.filter { template.contains($0.opening) || template.contains($0.closing) }
        return found.isEmpty ? `default` : found
    }

    /// The pair whose opening mark ends the prompt, apart from white space: the model then begins inside its thinking.
    package static func opened(by prompt: String, among pairs: [ThinkingTags] = ThinkingTags.default) -> ThinkingTags? {
        let bytes = prompt.utf8
        guard let last = bytes.lastIndex(where: { !$0.isThinkingWhiteSpace }) else { return nil }
        return pairs.first { $0.isUsable && bytes[...last].reversed().starts(with: $0.opening.utf8.reversed()) }
    }

    /// Whether neither mark is empty.
    var isUsable: Bool { !opening.isEmpty && !closing.isEmpty }
}
