import Hearth
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

/// Every transition of the one-model flow, and that nothing else is one.
@Suite struct DownloadFlowTests {
    typealias Table = DownloadFlowTable

    private static func flow(in state: String) throws -> DownloadFlow {
        var flow = DownloadFlow(selected: Models.text)
        for event in try #require(Table.ways[state]) { flow.take(event) }
        return flow
    }

    @Test(arguments: Table.steps)
    func takesEachStep(_ step: Table.Step) throws {
        var flow = try Self.flow(in: step.state)
        #expect(flow.take(step.event) == step.effects)
        #expect(Table.Look(flow) == step.next)
    }

    @Test(arguments: Table.ways.keys.sorted(), Table.events)
    func whatDoesNotFitChangesNothing(_ state: String, _ event: DownloadFlowEvent) throws {
        guard !Table.steps.contains(where: { $0.state == state && $0.event == event }) else { return }
        let before = try Self.flow(in: state)
        var flow = before
        #expect(flow.take(event) == [])
        #expect(Table.Look(flow) == Table.Look(before))
    }

    @Test func everyStepIsListedOnce() {
        let names = Table.steps.map { "\($0.state): \($0.event)" }
        #expect(Set(names).count == names.count)
        #expect(Set(Table.steps.map(\.state)).isSubset(of: Table.ways.keys))
    }
}
