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
    private static let reference = Argument(
        "REF", .modelReference, arity: .optional,
        "An installed model, as family[@version][:variant], or the path of a .gguf file.")
    private static let prompt = Option("prompt", "TEXT", .word, "Ask this, print the answer and end.")
    private static let image = Option(
        "image", "FILE", .word, isRepeatable: true, "Show this JPEG, PNG or BMP picture with the first question.")
    private static let projector = Option(
        "projector", "FILE", .word, "The projector (mmproj) with which a .gguf file sees; releases bring theirs.")
    private static let system = Option("system", "TEXT", .word, "A system prompt.")
    private static let maximumTokens = Option(
        "max-tokens", "N", .integer(1...1_048_576), default: "768", "End an answer after so many tokens.")
    private static let temperature = Option(
        "temperature", "T", .number(0...5), default: "0.35", "How freely to choose; 0 takes the likeliest token.")
    private static let seed = Option(
        "seed", "N", .integer(0...Int(UInt32.max)), default: "random", "Repeat the same choices.")
    private static let topK = Option(
        "top-k", "N", .integer(1...1_048_576), default: "all", "Choose among the N likeliest tokens.")
    private static let topP = Option(
        "top-p", "P", .number(0...1), default: "all", "Choose among the likeliest tokens that make up this share.")
    private static let minP = Option(
        "min-p", "P", .number(0...1), default: "none", "Drop tokens less likely than this share of the likeliest.")
    private static let repeatPenalty = Option(
        "repeat-penalty", "R", .number(0.01...100), default: "1",
        "Divide the logits of what the answer just said by this.")
    private static let frequencyPenalty = Option(
        "frequency-penalty", "F", .number(-2...2), default: "0",
        "Take this off a token's logit for each time it was said.")
    private static let presencePenalty = Option(
        "presence-penalty", "F", .number(-2...2), default: "0", "Take this off the logit of a token that was said.")
    private static let stop = Option(
        "stop", "STRING", .word, isRepeatable: true, "End the answer before this string, where it appears in it.")
    private static let noThink = Flag(
        "no-think", "Ask for the answer at once, from a model that would think first.")
    private static let schema = Option(
        "schema", "FILE", .word, "Hold the answer to the JSON schema in this file.")
    private static let grammar = Option(
        "grammar", "FILE", .word, "Hold the answer to the grammar (GBNF) in this file.")
    private static let local = Flag("local", "Answer on this device, also where a cloud is set up.")
    private static let cloud = Flag(
        "cloud", "Answer in the cloud, also where REF names a model; fail where a setting forbids it.")
    private static let isPrivate = Flag(
        "private", "Keep the conversation on this device, and nothing of it after its end.")
    private static let assistant = Flag(
        "assistant", "Answer --prompt as the assistant too: with its own system prompt, and with actions.")
    private static let goesOn = Flag("continue", "Go on with the last conversation.")
    private static let act = Option(
        "act", "TAG", .actionTag, "Make the first answer one action, such as REMINDER_ACTION.")
    private static let approve = Option(
        "approve", "TAG,…", .actionTags,
        "Carry out these actions unasked, where nothing in the context came from outside.")
    private static let format = Option(
        "format", "FORMAT", ValueKind<EventFormat>.choice, default: "text", "text, or json: one event a line.")

    static let declaration = CommandDeclaration(
        "chat", summary: "Talk with a model",
        discussion: [
            "At a terminal it is a conversation with the assistant, which can keep notes, events, reminders and habits, find people, "
                + "and search: it shows each action as a card and asks before it changes anything; /undo takes one back. /help "
                + "lists what can be typed besides questions, and Ctrl-C stops an answer. Conversations are kept: hearth chats.",
            "With --prompt, or with a prompt on the standard input, it answers once: the answer on stdout, and on stderr "
                + "a line with the model, the tokens of the prompt, those found in the cache, those generated, the time to "
                + "the first token, the rate and why the answer ended. What is piped in beside --prompt follows it.",
            "The assistant's own system prompt is used in conversations at a terminal, and with --assistant, --act, --approve or "
                + "--continue. Otherwise nothing is added beyond what the model's own template adds. Action blocks in such an answer "
                + "are cards too; with --system, --schema or --grammar they are text.",
            "Without a terminal, actions that need a yes are declined and listed on stderr, unless --approve names their tags: "
                + "CALENDAR_ACTION, NOTE_ACTION, HABIT_ACTION, REMINDER_ACTION, CONTACTS_SEARCH, WEB_SEARCH. Texts from outside "
                + "(web pages, files, contacts, invitations, what is piped in beside --prompt) make each action ask, with --approve "
                + "too.",
            "Without REF it uses the configured defaultModel, else the only installed model that answers. A .gguf file runs "
                + "without being installed.",
            "A model that is not on this device is an error; at a terminal the one that the origins have, or recommend, is offered "
                + "with its size, and after a yes fetched as 'hearth pull' does before the conversation begins. With --image and "
                + "no REF it is one that sees. Ctrl-C keeps what has come, and the next download goes on from there.",
            "What a model thinks before it answers is dimmed on a terminal, and left out where the answer goes to a file or a "
                + "program. With --format json it comes as events.",
            "A model without a projector cannot see: it answers the text alone, and stderr says so.",
            "Where a cloud is set up, a line before each answer says which model gives it, and why a local one does: 'hearth route' "
                + "shows the rules. A named REF is answered on this device.",
            "With --format json, one object a line: event is route, phase, truncated (with dropped), pictures-left-out (with count), "
                + "thinking or text (with delta), finish (with reason, usage and timings) or error; of the assistant also card "
                + "(with card: id, tag, title, fields, items, state, payload, note and canUndo), notice (with text) and cleared: "
                + "a search was made, and the text begins anew.",
        ],
        arguments: [reference],
        options: [
            prompt, image, projector, system, maximumTokens, temperature, seed, topK, topP, minP, repeatPenalty,
            frequencyPenalty, presencePenalty, stop, noThink, schema, grammar, local, cloud, isPrivate,
            assistant, goesOn, act, approve, Flag.ignoreMemory, format,
        ],
        examples: [
            .init("hearth chat", "A conversation with the default model."),
            .init("hearth chat smollm2-135m-instruct --seed 1 --prompt \"Name three rivers.\"", "One answer."),
            .init("hearth chat --image photo.jpg --prompt \"What is this?\"", "A question about a picture."),
            .init("hearth chat ./model.gguf < question.txt", "Run a file without installing it."),
            .init("hearth chat --private", "A conversation that never leaves this device."),
            .init("hearth chat --continue", "Go on where you left off."),
            .init(
                "hearth chat --act REMINDER_ACTION --prompt \"Call Anna tomorrow at nine.\"",
                "A reminder, as a card to approve or edit."),
        ])

    let reference: ModelReference?
    let prompt: String?
    let images: [String]
    let projector: String?
    let systemPrompt: String?
    let maximumTokens: Int?
    let temperature: Float?
    let sampling: SamplingOptions
    let stopStrings: [String]
    let isThinkingEnabled: Bool
    let constraint: ConstraintFile?
    let ignoresMemory: Bool
    let route: RouteRequest
    let isAssistant: Bool
    let goesOn: Bool
    let act: ActionTag?
    let approved: Set<ActionTag>
    let format: EventFormat

    init(_ values: ParsedArguments) throws {
        reference = try values.optional(Self.reference)
        prompt = try values.value(Self.prompt)
        images = try values.values(Self.image)
        projector = try values.value(Self.projector)
        systemPrompt = try values.value(Self.system)
        maximumTokens = try values.value(Self.maximumTokens)
        temperature = try values.value(Self.temperature)
        sampling = SamplingOptions(
            seed: try values.value(Self.seed).map { UInt32($0) }, topK: try values.value(Self.topK),
            topP: try values.value(Self.topP), minP: try values.value(Self.minP),
            repeatPenalty: try values.value(Self.repeatPenalty),
            frequencyPenalty: try values.value(Self.frequencyPenalty),
            presencePenalty: try values.value(Self.presencePenalty))
        stopStrings = try values.values(Self.stop)
        isThinkingEnabled = !values.has(Self.noThink)
        constraint = try ConstraintFile(
            schema: values.value(Self.schema), grammar: values.value(Self.grammar), hint: Self.declaration.hint())
        ignoresMemory = values.has(.ignoreMemory)
        let (local, cloud, isPrivate) = (values.has(Self.local), values.has(Self.cloud), values.has(Self.isPrivate))
        guard !cloud || !local && !isPrivate else {
            throw UsageError("--cloud excludes --local and --private", hint: Self.declaration.hint())
        }
        route = RouteRequest(
            preference: local ? .local : cloud ? .cloud : nil, isPrivate: isPrivate,
            model: reference.map { "\($0)" })
        goesOn = values.has(Self.goesOn)
        act = try values.value(Self.act)
        approved = try values.value(Self.approve) ?? []
        isAssistant = values.has(Self.assistant) || goesOn || act != nil || !approved.isEmpty
        guard !isAssistant || systemPrompt == nil && constraint == nil else {
            throw UsageError(
                "--system, --schema and --grammar exclude --assistant, --act, --approve and --continue",
                hint: Self.declaration.hint())
        }
        guard !goesOn || !isPrivate else {
            throw UsageError("--continue excludes --private, which keeps nothing", hint: Self.declaration.hint())
        }
        format = try values.value(Self.format) ?? .text
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
