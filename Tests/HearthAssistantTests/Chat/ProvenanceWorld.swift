import Foundation
import HearthBase
import HearthDatabase
import HearthInference
import HearthTestSupport

@testable import HearthAssistant

/// A home with an assistant whose actions are all approved for always, and a user who says yes.
struct ProvenanceWorld: Sendable {
    let folder: TemporaryFolder
    let clock = ManualClock(start: Date(timeIntervalSince1970: 1_795_500_000))
    let approval: ScriptedApproval

    init(otherwise: ActionDecision = .approve) throws {
        folder = try TemporaryFolder()
        approval = ScriptedApproval(otherwise: otherwise)
    }

    func event(_ path: String, _ title: String = "Obey me", _ lines: String = "") throws {
        try write(
            path, "VEVENT", "SUMMARY:\(title)\r\nDTSTART:20261125T100000Z\r\nDTEND:20261125T110000Z\r\n" + lines)
    }

    func reminder(_ path: String, _ title: String = "Obey me", _ lines: String = "") throws {
        try write(path, "VTODO", "SUMMARY:\(title)\r\n" + lines)
    }

    private func write(_ path: String, _ component: String, _ lines: String) throws {
        let text =
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:\(component)\r\nUID:\(path)\r\nDTSTAMP:20261101T000000Z\r\n"
            + "\(lines)END:\(component)\r\nEND:VCALENDAR\r\n"
        _ = try folder.write("home/\(path)", Data(text.utf8))
    }

    /// The answers of one conversation, each in a turn of its own.
    @discardableResult
    func talk(
        _ turns: [(question: String, answer: String)], own: [StoreKind: [String]] = [:],
        search: (any SearchProvider)? = nil
    ) async throws -> [ChatMessage] {
        var settings = AssistantSettings()
        settings.unaskedActions = Set(ActionTag.order)
        settings.ownCollections = own
        settings.search = search
        settings.chat.timeZone = .gmt
        let engine = ScriptedEngine(
            (turns.map(\.answer) + ["Found."]).map { [.text($0), .finish(.endOfGeneration)] })
        let assistant = try await Assistant(
            home: folder.path("home"), engine: engine, settings: settings, approval: approval, time: clock.time)
        let session = try await assistant.session()
        for turn in turns { await ChatFixture.collect(session.send(turn.question)) }
        let sent = await engine.requests.last ?? []
        await assistant.close()
        return sent
    }

    /// Whether a new conversation asks before it writes, after it has seen the agenda or listed records.
    func asks(
        after lists: [String] = [], own: [StoreKind: [String]] = [:], search: (any SearchProvider)? = nil
    ) async throws -> Bool {
        let before = await approval.asked.count
        try await talk(
            lists.map { ("List", $0) } + [("Go on", ProvenanceTests.write)], own: own, search: search)
        return await approval.asked.count > before
    }

    func home<Result: Sendable>(_ body: (AssistantHome) async throws -> Result) async throws -> Result {
        let home = try await AssistantHome(path: folder.path("home"), time: clock.time)
        let result = try await body(home)
        await home.database.close()
        return result
    }
}
