import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthDatabase
import HearthInference
import HearthRouting

/// The assistant of a command: its records, settings and engine.
struct AssistantSetup: Sendable {
    let home: AssistantHome
    let assistant: Assistant
    let settings: ChatSettings

    /// Opens the assistant.
    /// - Parameters:
    ///   - insists: whether small models get the assistant's instructions too.
    ///   - preApproved: the tags of `--approve`.
    ///   - isPrivate: whether nothing of any conversation leaves the device.
    ///   - systemPrompt: the system prompt in place of the assistant's own, whose conversation has no actions.
    /// - Throws: `ConfigurationError`, `DatabaseError`, `FileError`.
    init(
        _ parts: ConversationParts, thinks: Bool, insists: Bool = false, preApproved: Set<ActionTag>,
        systemPrompt: String? = nil,
        isPrivate: Bool = false, approval: any ActionApproval, in context: CommandContext
    ) async throws {
        let (home, isKept) = try await Self.home(context)
        self.home = home
        var settings = try await parts.hearth.assistantSettings(parts.configuration)
        settings.chat.generation = parts.options
        settings.chat.maximumNewTokens = parts.options.maximumNewTokens
        settings.chat.instructsSmallModels = insists
        settings.chat.texts.withoutActions = Self.withoutActions
        if !thinks { settings.chat.showThinking = false }
        settings.preApproved = preApproved
        if isPrivate, settings.search?.isRemote == true { settings.search = nil }
        settings.chat.systemPrompt = systemPrompt
        settings.ringing = ReminderTimer.text(environment: context.environment)
        // A note that is gone at the end is worse than none.
        if !isKept { settings.disabledStores.formUnion([.notes, .habits]) }
        assistant = parts.hearth.assistant(on: home, settings, engine: parts.engine, approval: approval)
        self.settings = assistant.chatSettings
        // Actions during which an earlier process ended are settled before new ones begin.
        for card in await assistant.actions.recover() where card.state == .unknown {
            for line in CardPainter.plain(card) { context.console.complain(line) }
        }
    }

    /// Says what a small model leaves out, and how to get it.
    private static let withoutActions = """
        %@ is too small for the assistant's instructions, and answers without them. For a model that acts: hearth list \
        --available; to insist: --assistant
        """

    /// The user's records; in memory if the disk cannot keep them, so that a conversation is possible all the same.
    private static func home(_ context: CommandContext) async throws -> (home: AssistantHome, isKept: Bool) {
        do {
            return (try await AssistantHome(context), true)
        } catch let error where error is DatabaseError || error is FileError {
            let failure = error as? any HearthFailure
            context.console.complain(
                "This conversation is not kept, and has no notes and habits: "
                    + "\(failure?.message ?? "\(error)") [\(failure?.codeText ?? "unknown")]; see `hearth doctor`.")
            return (try await AssistantHome(context, isKept: false), false)
        }
    }
}
