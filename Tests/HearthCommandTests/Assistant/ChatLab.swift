import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthDatabase
import HearthInference
import HearthTestSupport

@testable import HearthCommand

/// A conversation with the assistant in which the model follows a script.
struct ChatLab {
    let folder: TemporaryFolder
    let output: CaptureSink
    let errors = CaptureSink()
    let engine: ScriptedEngine

    init(_ answers: [String], width: Int? = nil, parameters: UInt64? = nil) throws {
        folder = try TemporaryFolder()
        output = CaptureSink(width: width)
        var information = ModelInformation(description: "scripted", contextLength: 4096)
        information.parameterCount = parameters
        engine = ScriptedEngine(
            answers.map { [.thinking("hm"), .text($0), .finish(.endOfGeneration)] }, information: information)
    }

    static let reminder =
        #"I remind you. [REMINDER_ACTION:{"action":"create","title":"Call Anna","due":"2099-11-25T09:00"}]"#

    func context(_ lines: String, isTerminal: Bool = true, editor: String? = nil) -> CommandContext {
        var environment = ["HEARTH_HOME": folder.path("home").string, "TERM": "xterm"]
        environment["EDITOR"] = editor
        environment["PATH"] = "/usr/bin:/bin"
        environment["XDG_CONFIG_HOME"] = folder.path("config").string
        return CommandContext(
            environment: environment, console: Console(output: output, errors: errors, environment: environment),
            input: FixedSource(text: lines, isTerminal: isTerminal), interruptions: .timeless, time: .system)
    }

    /// Talks with these lines typed.
    func talk(
        _ lines: String, act: ActionTag? = nil, approved: Set<ActionTag> = [], editor: String? = nil,
        system: String? = nil, isPrivate: Bool = false, insists: Bool = false,
        configuration: Configuration = Configuration()
    ) async throws {
        let context = context(lines, editor: editor)
        let approval = TerminalApproval()
        let hearth = try await context.hearth(configuration)
        let parts = ConversationParts(
            configuration: configuration, hearth: hearth, engine: engine,
            printer: AnswerPrinter(console: context.console, format: .text, model: "scripted"),
            attachments: Attachments(),
            options: GenerationOptions())
        let setup = try await AssistantSetup(
            parts, thinks: true, insists: insists, preApproved: approved, systemPrompt: system, isPrivate: isPrivate,
            approval: approval,
            in: context)
        let chat = AssistantChat(
            context, setup, session: try await setup.assistant.session(isPrivate: isPrivate),
            reader: PlainLines(context.input, context.console), approval: approval, attachments: Attachments(),
            act: act,
            shares: nil, modelName: { "scripted" },
            findModel: { _ in throw CommandError(.noModel, "there is no other model") }, isPrivate: isPrivate,
            checkPrivate: {})
        try await chat.run()
        await setup.home.database.close()
        await hearth.close()
    }

    func records<Result: Sendable>(_ body: (AssistantHome) async throws -> Result) async throws -> Result {
        try await context("").withAssistantHome(body)
    }

    var reminders: [String] {
        get async throws {
            try await records { try await $0.reminders.reminders(limit: 10).map(\.title) }
        }
    }
}
