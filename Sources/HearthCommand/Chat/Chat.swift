import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthRouting
import HearthStore

/// `hearth chat`
struct Chat: Command {
    @Argument(
        "REF", .chatSubject, arity: .optional,
        "A model as family[@version][:variant], org/repo[:quantization] of the Hub, or the path of a .gguf file.")
    var subject: ChatSubject?
    @Argument("WORDS", .text, arity: .any, "The question, as with --prompt.") var words: [String]
    @Option("prompt", "TEXT", .word, "Ask this, print the answer and end.") var promptOption: String?
    @Option("image", "FILE", .word, isRepeatable: true, "Show this JPEG, PNG or BMP picture with the first question.")
    var images: [String]
    @Option(
        "file", "FILE", .word, isRepeatable: true,
        "Put the text of this file before the first question; it counts as text from outside.")
    var files: [String]
    @Option("projector", "FILE", .path, "The projector (mmproj) with which a .gguf file sees; releases bring theirs.")
    var projector: Path?
    @Option("system", "TEXT", .word, "A system prompt.") var systemPrompt: String?
    @Option("max-tokens", "N", .integer(1...1_048_576), default: "768", "End an answer after so many tokens.")
    var maximumTokens: Int?
    @Option("temperature", "T", .number(0...5), default: "0.35", "How freely to choose; 0 takes the likeliest token.")
    var temperature: Float?
    @Option("seed", "N", .seed, default: "random", "Repeat the same choices.") var seed: UInt32?
    @Option("top-k", "N", .integer(1...1_048_576), default: "all", "Choose among the N likeliest tokens.")
    var topK: Int?
    @Option("top-p", "P", .number(0...1), default: "all", "Choose among the likeliest tokens that make up this share.")
    var topP: Float?
    @Option("min-p", "P", .number(0...1), default: "none", "Drop tokens less likely than this share of the likeliest.")
    var minP: Float?
    @Option(
        "repeat-penalty", "R", .number(0.01...100), default: "1",
        "Divide the logits of what the answer just said by this.")
    var repeatPenalty: Float?
    @Option(
        "frequency-penalty", "F", .number(-2...2), default: "0",
        "Take this off a token's logit for each time it was said.")
    var frequencyPenalty: Float?
    @Option(
        "presence-penalty", "F", .number(-2...2), default: "0", "Take this off the logit of a token that was said.")
    var presencePenalty: Float?
    @Option("stop", "STRING", .word, isRepeatable: true, "End the answer before this string, where it appears in it.")
    var stopStrings: [String]
    @Flag("no-think", "Ask for the answer at once, from a model that would think first.") var noThink
    @Option("schema", "FILE", .path, "Hold the answer to the JSON schema in this file.") var schema: Path?
    @Option("grammar", "FILE", .path, "Hold the answer to the grammar (GBNF) in this file.") var grammar: Path?
    @Flag("local", "Answer on this device, also where a cloud is set up.") var isLocal
    @Flag("cloud", "Answer in the cloud, also where REF names a model; fail where a setting forbids it.") var isCloud
    @Flag("private", "Keep the conversation on this device, and nothing of it after its end.") var isPrivate
    @Flag("assistant", "Answer as the assistant, with all its instructions, which small models get no other way.")
    var asksAssistant
    @Flag("continue", "Go on with the last conversation.") var goesOn
    @Option("act", "TAG", .actionTag, "Make the first answer one action, such as REMINDER_ACTION.") var act: ActionTag?
    @Option(
        "approve", "TAG,…", .actionTags,
        "Carry out these actions unasked, where nothing in the context came from outside.")
    var approved: Set<ActionTag>?
    @Flag(.ignoreMemory) var ignoresMemory
    @Option(.events) var format: EventFormat

    static let declaration = CommandDeclaration(
        "chat", summary: "Talk with a model",
        """
        At a terminal it is a conversation with the assistant, which can keep notes, events, reminders and habits, find
        people, and search: it shows each action as a card and asks before it changes anything; /undo takes one back.
        /help lists what can be typed besides questions, and Ctrl-C stops an answer. Conversations are kept: hearth
        chats.

        With --prompt, with words after REF, or with a prompt on the standard input, it answers once: the answer on stdout, and on stderr a
        line with the model, the tokens of the prompt, those found in the cache, those generated, the time to the first
        token, the rate and why the answer ended. What is piped in beside --prompt follows it.

        The assistant's own system prompt is used in conversations at a terminal, and with --assistant, --act, --approve
        or --continue. Otherwise nothing is added beyond what the model's own template adds. Action blocks in such an
        answer are cards too; with --system, --schema or --grammar they are text.

        A model of less than one billion weights, or with a context of less than 4096 tokens, gets none of the system
        prompt, and a line says so; up to three billion it gets a sentence and what words of the question suggest.
        --assistant gives each model all of it, --act TAG the part of this tag.

        Without a terminal, actions that need a yes are declined and listed on stderr, unless --approve names their
        tags: CALENDAR_ACTION, NOTE_ACTION, HABIT_ACTION, REMINDER_ACTION, CONTACTS_SEARCH, WEB_SEARCH. Texts from
        outside (web pages, files, contacts, imports, calendars that are not your own, what is piped in beside --prompt)
        make each action ask, with --approve too; so does a web search while your records are in the conversation.

        Without REF it uses the configured defaultModel, else the only installed model that answers. A .gguf file runs
        without being installed.

        A model that is not on this device is an error; at a terminal the one that the origins or the catalog have, or
        recommend, is offered with its size, and after a yes fetched as 'hearth pull' does before the conversation
        begins. REF may then be a repository of the Hugging Face Hub, or the address of its page, too. With
        --image and no REF it is one that sees. Ctrl-C keeps what has come, and the next download goes on from there.

        What a model thinks before it answers is dimmed on a terminal, and left out where the answer goes to a file or a
        program. With --format json it comes as events.

        A model without a projector cannot see: it answers the text alone, and stderr says so. The text of a --file has
        at most 256 KiB of UTF-8, all files together 1 MiB.

        Where a cloud is set up, a line before each answer says which model gives it, and why a local one does: 'hearth
        route' shows the rules. A named REF is answered on this device.

        With --format json, one object a line: event is route, phase, truncated (with dropped), pictures-left-out (with
        count), thinking or text (with delta), finish (with reason, usage and timings) or error; of the assistant also
        card (with card: id, tag, title, fields, items, state, payload, note and canUndo), notice (with text) and
        cleared: a search was made, and the text begins anew.

        hearth chat  # A conversation with the default model.
        hearth chat smollm2-135m-instruct "Name three rivers."  # One answer.
        hearth chat --image photo.jpg --prompt "What is this?"  # A question about a picture.
        hearth chat --file letter.txt --prompt "What does it ask of me?"  # A question about a text.
        hearth chat ./model.gguf < question.txt  # Run a file without installing it.
        hearth chat --private  # A conversation that never leaves this device.
        hearth chat --continue  # Go on where you left off.
        hearth chat --act REMINDER_ACTION --prompt "Call Anna tomorrow at nine."
        # A reminder, as a card to approve or edit.
        """)

    func validate() throws {
        guard promptOption == nil || prompt == promptOption else {
            throw UsageError("--prompt and the words after REF are two questions")
        }
        guard schema == nil || grammar == nil else {
            throw UsageError("--schema and --grammar say the same in two ways")
        }
        guard !isCloud || !isLocal && !isPrivate else { throw UsageError("--cloud excludes --local and --private") }
        guard !actsAsAssistant || systemPrompt == nil && !isConstrained else {
            throw UsageError("--system, --schema and --grammar exclude --assistant, --act and --approve")
        }
        guard !goesOn || !isPrivate else {
            throw UsageError("--continue excludes --private, which keeps nothing")
        }
    }

    /// The model that the command line names.
    var reference: ModelReference? { if case .model(let reference) = subject { reference } else { nil } }

    /// The name on the command line as one of an upstream's model or an alias: `vllm/qwen` is read as a repository of the Hub.
    var otherName: String? {
        switch reference {
        case .hub(let reference): String(reference.description.dropFirst("hf:".count))
        case .family(let family, nil, nil): family.name
        default: nil
        }
    }

    /// The one question of the command line.
    var prompt: String? {
        let beginning: [String] = if case .question(let text) = subject { [text] } else { [] }
        let question = (beginning + words).joined(separator: " ")
        return question.isEmpty ? promptOption : question
    }

    /// Whether the model may think before it answers.
    var isThinkingEnabled: Bool { !noThink }

    /// Whether the assistant answers, also a single question.
    var isAssistant: Bool { actsAsAssistant || goesOn }

    /// Whether the options want the assistant's own system prompt, with its actions.
    private var actsAsAssistant: Bool { asksAssistant || act != nil || approved?.isEmpty == false }

    /// Whether the answer is held to a schema or a grammar.
    var isConstrained: Bool { schema != nil || grammar != nil }

    /// Reads the file that the answer is held to.
    /// - Throws: `FileError`; `grammar-unusable` if the file is not text.
    func constraint() async throws -> OutputConstraint? {
        guard let path = schema ?? grammar else { return nil }
        let limit = schema == nil ? Grammar.maximumLength : OutputConstraint.maximumSchemaLength
        let data = try await blocking { try LocalFileSystem().contents(ofFile: path, limit: limit) }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw LLMError(
                .unusableGrammar, "\(path.lastComponent) is no text", context: ErrorContext(file: path.string),
                disposition: .usage)
        }
        return schema == nil ? .gbnf(text) : .jsonSchema(text)
    }

    /// What the command line says about who answers.
    var route: RouteRequest {
        RouteRequest(
            preference: isLocal ? .local : isCloud ? .cloud : nil, isPrivate: isPrivate,
            model: reference.map { "\($0)" })
    }

    /// The sampling of the command line, with the temperature of the settings if it has none.
    func sampling(_ configured: Float) -> SamplingOptions {
        SamplingOptions(
            temperature: temperature ?? configured, seed: seed, topK: topK, topP: topP, minP: minP,
            repeatPenalty: repeatPenalty, frequencyPenalty: frequencyPenalty, presencePenalty: presencePenalty)
    }
}

/// The first word of a conversation.
enum ChatSubject: Sendable, Hashable {
    case model(ModelReference)
    /// A question for the default model: a sentence, which cannot be the name of a model.
    case question(String)
}

extension ValueKind where Value == ChatSubject {
    /// A model, or a question.
    static var chatSubject: Self {
        ValueKind("a model", completion: .models) { word in
            // Words with blanks are a path if they begin or end like one, or if such a file exists.
            let isPath = ["/", "./", "../", "~"].contains { word.hasPrefix($0) } || word.hasSuffix(".gguf")
            let isSentence =
                word.contains(where: \.isWhitespace) && !isPath && !FileManager.default.fileExists(atPath: word)
            return isSentence ? .question(word) : .model(try ModelReference(word: word))
        }
    }
}

extension ValueKind where Value == ActionTag {
    /// The tag of an action.
    static var actionTag: Self {
        let names = ActionTag.order.map(\.rawValue)
        return ValueKind("one of " + names.joined(separator: ", ")) { word in
            names.contains(word.uppercased()) ? ActionTag(rawValue: word.uppercased()) : nil
        }
    }
}

extension ValueKind where Value == Set<ActionTag> {
    /// Tags of actions, separated by commas.
    static var actionTags: Self {
        let one = ValueKind<ActionTag>.actionTag
        return ValueKind<Set<ActionTag>>("tags separated by commas; each \(one.expectation)") { text in
            let tags = try text.split(separator: ",").map { try one.parse(String($0)) }
            return tags.isEmpty || tags.contains(nil) ? nil : Set(tags.compactMap(\.self))
        }
    }
}
