import Foundation
import HearthAssistant
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

/// An option of `hearth chat` that `/set` changes during a conversation.
struct ConversationOption: Sendable {
    let name: String
    /// Gives options the value of a command line, or that of other options.
    private let take: @Sendable (inout GenerationOptions, Chat) -> Void
    private let copy: @Sendable (inout GenerationOptions, GenerationOptions) -> Void
    let text: @Sendable (GenerationOptions) -> String

    private init<Value: Sendable>(
        _ name: String, _ path: any WritableKeyPath<GenerationOptions, Value> & Sendable, unset: String = "off",
        _ value: @escaping @Sendable (Chat) -> Value?
    ) {
        self.name = name
        take = { options, chat in if let value = value(chat) { options[keyPath: path] = value } }
        copy = { options, others in options[keyPath: path] = others[keyPath: path] }
        text = { options in
            let value = Mirror(reflecting: options[keyPath: path])
            guard value.displayStyle == .optional else { return "\(options[keyPath: path])" }
            return value.children.first.map { "\($0.value)" } ?? unset
        }
    }

    static let all: [ConversationOption] = [
        .init("temperature", \.sampling.temperature) { $0.temperature },
        .init("max-tokens", \.maximumNewTokens) { $0.maximumTokens },
        .init("seed", \.sampling.seed, unset: "random") { $0.seed.map(Optional.some) },
        .init("top-k", \.sampling.topK, unset: "all") { $0.topK.map(Optional.some) },
        .init("top-p", \.sampling.topP, unset: "all") { $0.topP.map(Optional.some) },
        .init("min-p", \.sampling.minP, unset: "none") { $0.minP.map(Optional.some) },
        .init("repeat-penalty", \.sampling.repeatPenalty) { $0.repeatPenalty.map(Optional.some) },
        .init("frequency-penalty", \.sampling.frequencyPenalty) { $0.frequencyPenalty.map(Optional.some) },
        .init("presence-penalty", \.sampling.presencePenalty) { $0.presencePenalty.map(Optional.some) },
    ]

    /// The names for completion.
    static var names: [String] { all.map(\.name) + ["system"] }

    /// The word that gives an option its first value back.
    static let reset = "default"

    /// Changes options by a name and a value as on the command line.
    /// - Parameter first: the options with which the conversation began.
    /// - Throws: ``UsageError``.
    static func set(
        _ name: String, to value: String, in options: inout GenerationOptions, first: GenerationOptions
    ) throws -> ConversationOption {
        guard let option = all.first(where: { $0.name == name }) else {
            let near = NearNames.words(name, among: names).map { "/set \($0)" }
            throw UsageError(
                "there is no option \(name.quotedForTerminal)",
                hint: near.isEmpty ? "/set lists them." : "Did you mean \(near.joined(separator: " or "))?")
        }
        if value == reset {
            option.copy(&options, first)
            return option
        }
        let chat = Chat()
        let parameters = CommandParameters(of: chat)
        do {
            let words = ["--\(name)=\(value)"]
            try parameters.take(ArgumentParser(declaration: Chat.declaration, parameters: parameters).parse(words))
        } catch let error as UsageError {
            throw UsageError(
                error.message.replacing("--\(name)", with: name),
                hint: "/set \(name) \(reset) takes the first value back.")
        }
        option.take(&options, chat)
        return option
    }
}

extension AssistantChat {
    /// Changes an option of the conversation, or shows one or all.
    func set(_ words: String) async throws {
        let parts = words.split(maxSplits: 1) { $0 == " " || $0 == "=" }.map(String.init)
        let name = parts.first?.lowercased().replacing("_", with: "-") ?? ""
        let value = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces.union(["="])) : ""
        if name == "system" { return await use(system: value) }
        var options = settings.generation ?? GenerationOptions()
        guard !name.isEmpty, !value.isEmpty else { return try show(name, of: options) }
        let first = setup.settings.generation ?? GenerationOptions()
        let option = try ConversationOption.set(name, to: value, in: &options, first: first)
        settings.generation = options
        settings.maximumNewTokens = options.maximumNewTokens
        await takeSettings()
        console.say("\(option.name) is \(option.text(options)) in this conversation.")
    }

    private func show(_ name: String, of options: GenerationOptions) throws {
        let all = ConversationOption.all.filter { name.isEmpty || $0.name == name }
        if all.isEmpty {
            var unused = options
            _ = try ConversationOption.set(name, to: ConversationOption.reset, in: &unused, first: options)
        }
        let width = ConversationOption.names.map(\.count).max() ?? 0
        for option in all {
            console.complain("\(TerminalText.padded(option.name, to: width))  \(option.text(options))")
        }
        guard name.isEmpty else { return }
        console.complain("\(TerminalText.padded("system", to: width))  \(systemText)")
        console.say("/set NAME VALUE changes one, /set NAME \(ConversationOption.reset) takes the first value back.")
    }

    /// Takes another system prompt, or shows it.
    func use(system text: String) async {
        guard !text.isEmpty else {
            console.complain(systemText)
            return console.say(
                "/system TEXT takes another one, /system \(ConversationOption.reset) the first one back.")
        }
        let isReset = text == ConversationOption.reset
        settings.systemPrompt = isReset ? setup.settings.systemPrompt : text
        await takeSettings()
        if isReset { return console.say("The first system prompt is back.") }
        console.say("The model follows this system prompt in this conversation; it has no actions then.")
    }

    private var systemText: String {
        guard let prompt = settings.systemPrompt else { return "(the assistant's own)" }
        return prompt.isEmpty ? "(none)" : TerminalText.singleLine(prompt)
    }
}
