import HearthBase
import HearthInference

/// What the sessions of an assistant share.
package struct ChatParts: Sendable {
    package var settings = ChatSettings()
    /// Keeps the conversations; `nil` keeps nothing.
    package var store: (any ConversationStore)?
    package var runner: ActionRunner
    /// The sections of prompts beside those of the settings.
    package var sources: [any PromptSource] = []
    /// Answers `WEB_SEARCH` blocks; `nil` without a search.
    package var search: (any SearchProvider)?
    package var pages: PageReader?
    package var time = TimeSource.system

    /// The parts of a conversation that nothing keeps and that has no actions, for previews.
    package static var bare: ChatParts {
        ChatParts(
            runner: ActionRunner(registry: ActionRegistry([]), stores: [:], journal: nil, approval: DeclineAll()))
    }

    /// The parts of a private conversation: without a search that leaves the device, pages, and a store.
    var forPrivateUse: ChatParts {
        var parts = self
        if search?.isRemote == true { parts.search = nil }
        (parts.pages, parts.store) = (nil, nil)
        return parts
    }
}
