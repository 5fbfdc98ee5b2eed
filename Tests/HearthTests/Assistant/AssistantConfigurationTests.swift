import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthTestSupport
import Testing

@Suite struct AssistantConfigurationTests {
    @Test(arguments: [
        ("approval.NOTE_ACTION", "always"), ("approval.WEB_SEARCH", "never"), ("approval.CALENDAR_ACTION", "ask"),
        ("search.kind", "own"), ("stores.calendar", "off"), ("stores.habits", "off"), ("chat.showThinking", "false"),
    ])
    func settingsAreKeptInTheFile(_ key: String, _ value: String) throws {
        var configuration = Configuration()
        try configuration.set(key, to: value)
        let read = try Configuration(json: configuration.json())
        #expect(try read.value(of: key) == value)
        #expect(read.entries.contains { $0.key == key && $0.value == value })
        try configuration.set(key, to: nil)
        #expect(try configuration.value(of: key) == nil)
        #expect(configuration == Configuration())
    }

    @Test(arguments: [
        ("approval.NOTE_ACTION", "yes"), ("search.kind", "google"), ("search.url", "http://example.org"),
        ("search.url", "https://user@example.org"), ("search.url", "x"), ("search.keyFile", "relative"),
        ("stores.calendar", "perhaps"), ("chat.showThinking", "1"),
    ])
    func otherValuesAreRefused(_ key: String, _ value: String) {
        var configuration = Configuration()
        let error = #expect(throws: ConfigurationError.self) { try configuration.set(key, to: value) }
        #expect(error?.code == .invalid && error?.context.field == key)
    }

    @Test(arguments: ["approval.NOTE", "approval", "stores.mail", "search.x"]) func unknownSettingsAreRefused(
        _ key: String
    ) {
        var configuration = Configuration()
        let error = #expect(throws: ConfigurationError.self) { try configuration.set(key, to: "x") }
        #expect(error?.code == .unknownKey)
    }

    @Test func aSearchNeedsItsServer() throws {
        var configuration = Configuration()
        let none = try configuration.assistant.provider()
        #expect(none == nil)
        try configuration.set("search.kind", to: "searxng")
        #expect(throws: ConfigurationError.self) { try configuration.assistant.provider() }
        try configuration.set("search.url", to: "https://search.example.org/searx")
        #expect(try configuration.assistant.provider()?.name == "search.example.org")
        try configuration.set("search.kind", to: "own")
        #expect(try configuration.assistant.provider()?.isRemote == false)
        #expect(try configuration.value(of: "search.url") == nil)
    }

    @Test func theSettingsReachTheAssistant() throws {
        var configuration = Configuration()
        try configuration.set("approval.NOTE_ACTION", to: "never")
        try configuration.set("stores.contacts", to: "off")
        try configuration.set("chat.showThinking", to: "false")
        let settings = configuration.assistant.settings(search: nil)
        #expect(settings.approvals == [.note: .never] && settings.disabledStores == [.contacts])
        #expect(!settings.chat.showThinking)
    }
}
