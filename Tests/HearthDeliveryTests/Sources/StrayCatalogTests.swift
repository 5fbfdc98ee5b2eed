import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Copies of catalogs that nobody asks for any more go; how far their origins had counted stays.
@Suite(.timeLimit(.minutes(5))) struct StrayCatalogTests {
    private func manager(_ lab: SourceLab, isConfigured: Bool) -> ModelManager {
        ModelManager(
            home: lab.folder.path("home"), origins: isConfigured ? [Origin(name: "test", manifestURL: lab.url)] : [],
            http: lab.http, time: lab.clock.time, network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
    }

    @Test func anOriginThatComesBackCannotGoBack() async throws {
        let lab = try SourceLab(.manifest("2.0.0", serial: 7))
        _ = try await lab.source().listing(.now)
        let manager = manager(lab, isConfigured: false)
        let plan = try await manager.collectionPlan()
        let place = try #require(try LocalFileSystem().contents(of: lab.catalogs).first { $0.utf8.count == 64 })
        #expect(plan.removals.map(\.item) == [.catalog(place)])
        #expect(try await manager.collect(plan) == plan.removals)
        let left = try LocalFileSystem().contents(of: lab.catalogs.joined(place))
        #expect(Set(left).isSubset(of: ["record.json", "lock"]) && left.contains("record.json"))
        #expect(try await manager.collectionPlan().removals.isEmpty, "there is nothing left to win")

        // Configured anew, and it offers what it had withdrawn.
        for serial in [6, nil] {
            lab.http.answer(.manifest("1.0.0", serial: serial))
            #expect(await code { try await lab.source().listing(.now) } == "catalog-rollback")
        }
        // Nor does a silent one have a copy to show.
        lab.http.answer(.offline)
        #expect(await code { try await lab.source().listing(.now) } == "origin-unreachable")
        lab.http.answer(.manifest("2.0.0", serial: 7))
        #expect(try await lab.source().listing(.now).catalog.serial == 7)
    }

    @Test func whatHasNoSerialGoesAltogether() async throws {
        let lab = try SourceLab(.manifest("1.0.0"))
        _ = try await lab.source().listing(.now)
        let manager = manager(lab, isConfigured: false)
        #expect(try await manager.collect(try await manager.collectionPlan()).count == 1)
        #expect(try LocalFileSystem().contents(of: lab.catalogs).filter { $0.utf8.count == 64 }.isEmpty)
    }

    @Test func whatSomebodyKeepsJustNowStays() async throws {
        let lab = try SourceLab(.manifest("1.0.0", serial: 3))
        _ = try await lab.source().listing(.now)
        let manager = manager(lab, isConfigured: false)
        let plan = try await manager.collectionPlan()
        let place = try #require(try LocalFileSystem().contents(of: lab.catalogs).first { $0.utf8.count == 64 })
        let lock = try #require(
            try FileLock.tryAcquire(lab.catalogs.joined(place).joined("lock")))
        #expect(try await manager.collect(plan).isEmpty)
        lock.release()
    }
}
