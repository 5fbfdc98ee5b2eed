import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP
import HearthRouting

/// The settings of the assistant: `approval.TAG`, `search.*`, `stores.KIND`, `stores.KIND.own` and `chat.showThinking`.
package struct AssistantConfiguration: Sendable, Hashable {
    /// The kinds of search.
    package enum Search: String, Sendable, Hashable, CaseIterable {
        /// A SearXNG server.
        case searxng
        /// The user's own notes and conversations; no query leaves the device.
        case own
    }

    /// Whether an action asks, by tag.
    package var approvals: [ActionTag: ApprovalPolicy.Setting] = [:]
    package var search: Search?
    var searchURL: URL?
    var searchKeyFile: Path?
    private var disabledStores: Set<StoreKind> = []
    /// The collections that hold the user's own records, by kind.
    package var ownCollections: [StoreKind: [String]] = [:]
    package var showsThinking = true

    /// The kinds of records that can be kept from the assistant.
    static let kinds: [StoreKind] = [.calendar, .reminders, .contacts, .notes, .habits]
    /// The kinds of records that lie in collections.
    static let kindsWithCollections: [StoreKind] = [.calendar, .reminders, .contacts]

    /// Whether the assistant may use records.
    subscript(uses kind: StoreKind) -> Bool {
        get { !disabledStores.contains(kind) }
        set { if newValue { disabledStores.remove(kind) } else { disabledStores.insert(kind) } }
    }

    /// The search that is set up; `nil` for none. With `own`, the assistant searches its stores. Blocks to read the key.
    /// - Throws: ``ConfigurationError`` for a server without an address; `LLMError` with `cloud-key-unusable`.
    package func provider() throws -> (any SearchProvider)? {
        switch search {
        case nil: return nil
        case .own: return OwnTextSearch()
        case .searxng:
            guard let searchURL else {
                throw ConfigurationError(
                    .notSet, "the search needs the address of a server",
                    context: .init(field: "search.url", remedy: "Set search.url."))
            }
            return SearXNG(address: searchURL, key: try searchKeyFile.map { try CloudKey.read($0).value })
        }
    }

    /// The settings for an assistant. The search is that of ``provider()``.
    package func settings(search: (any SearchProvider)?) -> AssistantSettings {
        var settings = AssistantSettings()
        settings.chat.showThinking = showsThinking
        settings.search = search
        settings.disabledStores = disabledStores
        settings.ownCollections = ownCollections
        settings.approvals = approvals
        return settings
    }

    /// The tags whose actions the settings allow in a conversation, in the order of their execution.
    package func offeredTags(isPrivate: Bool) -> [ActionTag] {
        ActionTag.order.filter { tag in
            guard approvals[tag] != .never else { return false }
            switch tag {
            case .webSearch: return isPrivate ? search == .own : search != nil
            case .calendar: return self[uses: .calendar]
            case .note: return self[uses: .notes]
            case .contactsSearch: return self[uses: .contacts]
            case .habit: return self[uses: .habits]
            case .reminder: return self[uses: .reminders]
            default: return false
            }
        }
    }
}
