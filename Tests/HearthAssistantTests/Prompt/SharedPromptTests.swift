import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant
@testable import HearthRouting

/// What of a real prompt leaves for the cloud, by the setting `cloud.shares`.
@Suite struct SharedPromptTests {
    private struct Weather: PromptSource {
        func sections(at moment: PromptMoment) async throws -> [PromptSection] {
            [PromptSection(name: "weather", text: "Sunny", sharing: .never)]
        }
    }

    /// The second question of a conversation after a search in the contacts, as the engine gets it.
    private func conversation() async throws -> [ChatMessage] {
        let folder = try TemporaryFolder()
        _ = try folder.write("facts.txt", Data("Vegetarian".utf8))
        let engine = ScriptedEngine([
            [.text(#"I look. [CONTACTS_SEARCH:{"query":"Anna"}]"#), .finish(.endOfGeneration)],
            [.text("Yes."), .finish(.endOfGeneration)],
        ])
        let contacts = VdirContactStore(home: folder.path)
        let card = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:1\r\nFN:Anna Berg\r\nTEL:0171 555\r\nEND:VCARD\r\n"
        _ = try folder.write("contacts/personal/1.vcf", Data(card.utf8))
        let reminders = VdirReminderStore(home: folder.path)
        try await reminders.apply(
            try await reminders.creation(title: "Buy milk", due: nil, alarmMinutes: nil, priority: 0, id: "r"))
        var settings = AssistantSettings()
        settings.chat.sources = [Weather()]
        let assistant = Assistant(
            conversations: MemoryConversationStore(),
            stores: AssistantStores(
                calendar: VdirCalendarStore(home: folder.path), reminders: reminders, contacts: contacts),
            facts: folder.path("facts.txt"), engine: engine, settings: settings,
            approval: ScriptedApproval(otherwise: .approve), time: ManualClock().time)
        let session = try await assistant.session()
        await ChatFixture.collect(session.send("Who is Anna?"))
        await ChatFixture.collect(session.send("Call her"))
        return try #require(await engine.requests.last)
    }

    @Test func theEngineOfThisDeviceGetsAll() async throws {
        let messages = try await conversation()
        #expect(messages.map(\.role) == [.system, .user, .assistant, .user])
        let sent = messages.map(\.content).joined(separator: "\n")
        for text in ["CALENDAR_ACTION", "Vegetarian", "Buy milk", "no events", "Sunny", "Anna Berg", "0171 555"] {
            #expect(sent.contains(text), "\(text)")
        }
    }

    @Test(arguments: [
        ("none", ["Call her"]),
        ("history", ["Who is Anna?", "I look.", "Call her"]),
        ("instructions", ["CALENDAR_ACTION", "Call her"]),
        ("instructions,facts", ["CALENDAR_ACTION", "Vegetarian", "Call her"]),
        ("results", ["Anna Berg", "Call her"]),
        ("history,calendar", ["Who is Anna?", "no events", "I look.", "Call her"]),
        ("history,reminders", ["Who is Anna?", "Buy milk", "I look.", "Call her"]),
        (
            CloudShares.all.text,
            [
                "CALENDAR_ACTION", "Vegetarian", "Who is Anna?", "no events", "Buy milk", "I look.", "Anna Berg",
                "Call her",
            ]
        ),
    ])
    func onlySharedPartsLeave(shares: String, expected: [String]) async throws {
        let shared = try #require(CloudShares(shares)).shared(try await conversation()).messages
        let sent = shared.map(\.content).joined(separator: "\n")
        let all = [
            "CALENDAR_ACTION", "Vegetarian", "Who is Anna?", "no events", "Buy milk", "I look.", "Anna Berg",
            "Call her",
        ]
        #expect(all.filter(sent.contains) == expected)
        // Of a section that never leaves, and of a removed one, no mark is left.
        #expect(!sent.contains("Sunny") && !sent.contains("<weather"))
        #expect(sent.contains("<results source") == expected.contains("Anna Berg"))
    }
}
