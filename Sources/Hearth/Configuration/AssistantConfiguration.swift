import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP
import HearthRouting

/// The settings of the assistant: `approval.TAG`, `search.*`, `stores.KIND` and `chat.showThinking`.
package struct AssistantConfiguration: Sendable, Hashable {
    /// The kinds of search.
    package enum Search: String, Sendable, Hashable, CaseIterable {
        /// A SearXNG server.
        case searxng
        /// The user's own notes and conversations; no query leaves the device.
        case own
    }

    /// Whether an action asks, by tag.
    package private(set) var approvals: [ActionTag: ApprovalPolicy.Setting] = [:]
    package private(set) var search: Search?
    private var searchURL: URL?
    private var searchKeyFile: Path?
    private var disabledStores: Set<StoreKind> = []
    package private(set) var showsThinking = true

    private static let kinds: [StoreKind] = [.calendar, .reminders, .contacts, .notes, .habits]

    static let keys =
        ActionTag.order.map { "approval.\($0)" } + ["search.kind", "search.url", "search.keyFile"]
        + kinds.map { "stores.\($0.rawValue)" } + ["chat.showThinking"]

    /// The sections of the file.
    static let sections = ["approval", "search", "stores", "chat"]

    /// The value of a setting as text.
    func value(of key: String) -> String? {
        switch key {
        case "search.kind": search?.rawValue
        case "search.url": searchURL?.absoluteString
        case "search.keyFile": searchKeyFile?.string
        case "chat.showThinking": showsThinking ? nil : "false"
        default:
            if let tag = Self.tag(key) {
                approvals[tag]?.rawValue
            } else {
                Self.kind(key).flatMap { disabledStores.contains($0) ? "off" : nil }
            }
        }
    }

    /// Checks and sets a value; `nil` removes the setting.
    mutating func set(_ key: String, to text: String?) throws {
        switch key {
        case "search.kind":
            let kind = try text.map { text in
                guard let kind = Search(rawValue: text) else {
                    let names = Search.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ConfigurationError.invalid(key, "one of \(names)", found: text)
                }
                return kind
            }
            // The address and key belong to a server.
            if kind != .searxng { (searchURL, searchKeyFile) = (nil, nil) }
            search = kind
        case "search.url": searchURL = try text.map { try Self.address($0, key) }
        case "search.keyFile":
            searchKeyFile = try text.map { text in
                guard text.hasPrefix("/"), text.utf8.count < 4096, !text.utf8.contains(0) else {
                    throw ConfigurationError.invalid(key, "an absolute path", found: text)
                }
                return Path(text)
            }
        case "chat.showThinking":
            guard let shown = Bool(text ?? "true") else {
                throw ConfigurationError.invalid(key, "true or false", found: text ?? "")
            }
            showsThinking = shown
        default:
            if let tag = Self.tag(key) {
                approvals[tag] = try text.map { text in
                    guard let setting = ApprovalPolicy.Setting(rawValue: text) else {
                        throw ConfigurationError.invalid(key, "ask, always or never", found: text)
                    }
                    return setting
                }
            } else if let kind = Self.kind(key) {
                switch text {
                case nil, "on": disabledStores.remove(kind)
                case "off": disabledStores.insert(kind)
                case let text?: throw ConfigurationError.invalid(key, "on or off", found: text)
                }
            }
        }
    }

    /// The settings that the user made, by section and name.
    var values: [String: [String: JSONValue]] {
        var values: [String: [String: JSONValue]] = [:]
        for key in Self.keys {
            let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2, let value = value(of: key) else { continue }
            values[parts[0], default: [:]][parts[1]] = value == "false" ? .boolean(false) : .string(value)
        }
        return values
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
        settings.approvals = approvals
        return settings
    }

    /// The tags whose actions the settings allow, in the order of their execution.
    package var offeredTags: [ActionTag] {
        ActionTag.order.filter { tag in
            guard approvals[tag] != .never else { return false }
            switch tag {
            case .webSearch: return search != nil
            case .calendar: return !disabledStores.contains(.calendar)
            case .note: return !disabledStores.contains(.notes)
            case .contactsSearch: return !disabledStores.contains(.contacts)
            case .habit: return !disabledStores.contains(.habits)
            case .reminder: return !disabledStores.contains(.reminders)
            default: return false
            }
        }
    }

    private static func tag(_ key: String) -> ActionTag? {
        ActionTag.order.first { "approval.\($0)" == key }
    }

    private static func kind(_ key: String) -> StoreKind? {
        kinds.first { "stores.\($0.rawValue)" == key }
    }

    private static func address(_ text: String, _ key: String) throws -> URL {
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty, url.user() == nil,
            url.query() == nil, url.fragment() == nil,
            url.scheme == "https" || (url.scheme == "http" && url.isLoopback)
        else {
            throw ConfigurationError.invalid(
                key, "an https address, or http to this machine, without a user and a query", found: text)
        }
        return url
    }
}
