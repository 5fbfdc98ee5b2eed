import Foundation
import HearthInference
import Testing

@testable import HearthAssistant

// The example of docs/assistant.md begins here.
/// Waters a plant, in an app for a garden.
struct WaterPlant: AssistantAction {
    struct Payload: Codable, Sendable {
        var plant: String
        var litres: Int?
    }

    let tag: ActionTag = "WATER_PLANT"
    let purpose = "Waters a plant of the garden."
    let schema = """
        {"type": "object", "additionalProperties": false, "required": ["plant"], "properties": {
            "plant": {"type": "string", "maxLength": 40}, "litres": {"type": "integer", "minimum": 1, "maximum": 5}}}
        """
    let garden: Garden

    func plan(_ payload: Payload, in context: ActionContext) async throws -> ActionPlan {
        let litres = payload.litres ?? 1
        return ActionPlan(
            title: "Water a plant",
            fields: [
                .init(name: "plant", label: "Plant", value: payload.plant),
                .init(name: "litres", label: "Litres", value: "\(litres)"),
            ]
        ) {
            await garden.water(payload.plant, litres)
            return "The \(payload.plant) has water."
        }
    }
}
// The example of docs/assistant.md ends here.

actor Garden {
    private(set) var watered: [String: Int] = [:]

    func water(_ plant: String, _ litres: Int) { watered[plant, default: 0] += litres }
}

@Suite struct OwnActionTests {
    @Test func runsAsBlockAndAsTool() async throws {
        let garden = Garden()
        let bench = ActionBench(approval: ScriptedApproval(otherwise: .approve))
        let runner = bench.runner(own: [WaterPlant(garden: garden)])
        let registry = runner.registry
        #expect(registry.tags.last == "WATER_PLANT")
        let (text, blocks) = ActionBench.scan(
            #"Yes. [WATER_PLANT:{"plant":"fern","litres":2}]"#, tags: registry.tags)
        #expect(text == "Yes.")
        let call = ToolCall(id: "1", name: "water_plant", arguments: #"{"plant":"rose"}"#)
        let block = try #require(registry.block(of: call, index: 1))
        let outcome = await runner.run(blocks + [block], in: bench.turn())
        #expect(outcome.cards.map(\.state) == [.done, .done])
        #expect(outcome.cards.allSatisfy { !$0.canUndo })
        // The card says before that it cannot be undone.
        let asked = await bench.approval.asked
        #expect(asked.count == 2 && asked.allSatisfy { $0.note == "This cannot be undone." })
        #expect(await garden.watered == ["fern": 2, "rose": 1])
        await #expect(throws: AssistantError.self) { try await runner.undo(outcome.cards[0].id) }
    }

    @Test func isUnknownAfterAKill() async throws {
        let kill = KillSwitch()
        let bench = ActionBench(approval: ScriptedApproval(otherwise: .approve), kill: kill)
        let garden = Garden()
        let (_, blocks) = ActionBench.scan(#"[WATER_PLANT:{"plant":"fern"}]"#, tags: ["WATER_PLANT"])
        // Planned and begun are two reads and four steps of writing; then the plant is watered.
        kill.arm(at: 8)
        _ = await bench.runner(own: [WaterPlant(garden: garden)]).run(blocks, in: bench.turn())
        kill.arm(at: nil)
        let next = bench.runner(own: [WaterPlant(garden: garden)])
        #expect(await next.recover().map(\.state) == [.unknown])
        _ = await next.run(blocks, in: bench.turn())
        #expect(await garden.watered == ["fern": 1])
    }

    /// The document shows the code above, in at most thirty lines besides empty ones.
    @Test func theDocumentShowsThisCode() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.firstIndex { $0.hasPrefix("// The example") })
        let last = try #require(lines.lastIndex { $0.hasPrefix("// The example") })
        let example = lines[(first + 1)..<last]
        #expect(example.count { !$0.isEmpty } <= 30)
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let text = try String(contentsOf: root.appending(path: "docs/assistant.md"), encoding: .utf8)
        #expect(text.contains("```swift\n\(example.joined(separator: "\n"))\n```"))
    }
}
