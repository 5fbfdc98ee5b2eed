import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@Suite struct RolloutTests {
    @Test func aRolloutIsWidenedWithoutOtherBytes() async throws {
        let origin = try TestOrigin()
        let path = try origin.source("m-v1.0.0-q4.gguf")
        try await origin.publish(path) { $0.rollout = Rollout(percent: 10, seed: "a") }
        #expect(try origin.catalog().releases.first?.rollout == Rollout(percent: 10, seed: "a"))
        let wider = try await origin.publish(path) { $0.rollout = Rollout(percent: 100, seed: "a") }
        #expect(wider.items.map(\.outcome) == [.unchanged])
        #expect(wider.changesManifest && wider.serial == 2)
        #expect(try origin.catalog().releases.first?.rollout == Rollout(percent: 100, seed: "a"))
        // What is not said stays.
        #expect(try await origin.publish(path).changesManifest == false)
    }
}
