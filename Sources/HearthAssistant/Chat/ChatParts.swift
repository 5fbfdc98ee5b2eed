import HearthBase
import HearthInference

/// What the sessions of an assistant share.
package struct ChatParts: Sendable {
    package var settings: ChatSettings
    package var store: any ConversationStore
    package var runner: ActionRunner
    /// The sections of prompts beside those of the settings.
    package var sources: [any PromptSource]
    /// Answers `WEB_SEARCH` blocks; `nil` without a search.
    package var search: (any SearchProvider)?
    package var pages: PageReader?
    package var time: TimeSource

    package init(
        settings: ChatSettings = ChatSettings(), store: any ConversationStore, runner: ActionRunner,
        sources: [any PromptSource] = [], search: (any SearchProvider)? = nil, pages: PageReader? = nil,
        time: TimeSource = .system
    ) {
        self.settings = settings
        self.store = store
        self.runner = runner
        self.sources = sources
        self.search = search
        self.pages = pages
        self.time = time
    }
}
