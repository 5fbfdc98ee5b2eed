import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthPublishing

@Suite(.timeLimit(.minutes(5))) struct OriginEditTests {
    private func choice(_ text: String) throws -> ReleaseChoice {
        guard case .family(let family, let version, let variant) = try ModelReference(parsing: text) else {
            throw CocoaError(.coderInvalidValue)
        }
        return ReleaseChoice(family: family, version: version, variant: variant)
    }

    private func publisher(_ origin: TestOrigin) -> Publisher {
        Publisher(folder: origin.path, time: origin.clock.time)
    }

    private func filled() async throws -> TestOrigin {
        let origin = try TestOrigin()
        try await origin.publish(
            origin.source("m-v1.0.0-q4.gguf"), origin.source("m-v1.1.0-q4.gguf", [2]),
            origin.source("m-v1.1.0-q8.gguf", [3]), origin.source("n-v2.0.0-q4.gguf", [4]))
        return origin
    }

    @Test func unpublishingTakesAReleaseOutAndKeepsItsFiles() async throws {
        let origin = try await filled()
        let files = try origin.names()
        let report = try await publisher(origin).unpublish(choice("m@1.1.0"))
        #expect(report.releases.map(\.description) == ["m@1.1.0:q4", "m@1.1.0:q8"])
        #expect(report.current?.name == "1.0.0")
        let catalog = try origin.catalog()
        #expect(catalog.serial == 2)
        #expect(catalog.releases.map(\.identity.description) == ["m@1.0.0:q4", "n@2.0.0:q4"])
        #expect(try origin.names() == files)
        // The last release of a family takes the family with it.
        let last = try await publisher(origin).unpublish(choice("n"))
        #expect(last.current == nil)
        #expect(try origin.catalog().families.map(\.name) == ["m"])
    }

    @Test func aWithdrawnReleaseIsNotCurrent() async throws {
        let origin = try await filled()
        let report = try await publisher(origin).yank(choice("m@1.1.0"), reason: "wrong language")
        #expect(report.current?.name == "1.0.0")
        #expect(try origin.catalog().releases.map(\.yanked) == [nil, "wrong language", "wrong language", nil])
        let again = try await publisher(origin).yank(choice("m@1.1.0"), reason: "wrong language")
        #expect(again.releases.isEmpty && again.serial == 2)
        let back = try await publisher(origin).yank(choice("m@1.1.0:q4"), reason: nil)
        #expect(back.releases.map(\.description) == ["m@1.1.0:q4"])
        // The publisher chooses again.
        #expect(back.current?.name == "1.0.0")
    }

    @Test func theOnlyVersionStaysCurrentWhenWithdrawn() async throws {
        let origin = try await filled()
        #expect(try await publisher(origin).yank(choice("n@2.0.0"), reason: "bad").current?.name == "2.0.0")
    }

    @Test func aRolloutIsWidenedHaltedAndResumed() async throws {
        let origin = try await filled()
        let publisher = publisher(origin)
        func rollout() throws -> Rollout? { try origin.catalog().releases[1].rollout }
        _ = try await publisher.rollout(choice("m@1.1.0:q4"), .percent(10))
        #expect(try rollout() == Rollout(percent: 10, seed: "hearth"))
        _ = try await publisher.rollout(choice("m@1.1.0:q4"), .percent(25))
        _ = try await publisher.rollout(choice("m@1.1.0:q4"), .halt)
        #expect(try rollout()?.percent == 0)
        #expect(try await publisher.rollout(choice("m@1.1.0:q4"), .halt).releases.isEmpty)
        _ = try await publisher.rollout(choice("m@1.1.0:q4"), .resume)
        #expect(try rollout() == Rollout(percent: 25, seed: "hearth"))
        #expect(try await publisher.rollout(choice("m@1.1.0:q4"), .resume).releases.isEmpty)
    }

    @Test func aDryRunChangesNothing() async throws {
        let origin = try await filled()
        let before = try origin.text()
        let report = try await publisher(origin).unpublish(choice("m@1.0.0"), isDryRun: true)
        #expect(report.releases.count == 1)
        #expect(report.plan.steps.map(\.kind) == [.copy, .catalog])
        #expect(try origin.text() == before)
    }

    @Test(arguments: ["x", "m@3.0.0", "m@1.0.0:q8"])
    func whatIsNotListedIsSaid(_ text: String) async throws {
        let origin = try await filled()
        let error = try await #require(throws: PublishingError.self) {
            try await publisher(origin).yank(choice(text), reason: "bad")
        }
        #expect(error.code == .notPublished)
        #expect(try origin.catalog().serial == 1)
    }

    @Test func aPlaceWithoutACatalogIsLeftAlone() async throws {
        let origin = try TestOrigin()
        try origin.folder.write("origin/models/stray.gguf", Data([1]))
        let pruned = await #expect(throws: PublishingError.self) { try await publisher(origin).prune(keeping: 0) }
        #expect(pruned?.code == .originUnusable)
        let yanked = await #expect(throws: PublishingError.self) {
            try await publisher(origin).yank(choice("m@1.0.0"), reason: "bad")
        }
        #expect(yanked?.code == .originUnusable)
        #expect(try origin.names("origin") == ["models"])
        #expect(try origin.names() == ["stray.gguf"])
    }

    @Test func pruningKeepsWhatARecentCatalogNames() async throws {
        let origin = try await filled()
        try origin.folder.write("origin/models/stray.gguf", Data([1]))
        try origin.folder.write("origin/notes.txt", Data([1]))
        _ = try await publisher(origin).unpublish(choice("n"))
        // The files are as old as the test; the clock decides their age.
        let now = Date()
        func prune(after days: Double, keeping: Int) async throws -> [String] {
            let time = TimeSource(clock: ContinuousClock(), now: { now.addingTimeInterval(days * 86400) })
            let report = try await Publisher(folder: origin.path, time: time).prune(keeping: keeping)
            return report.removed.map(\.place.string).filter { !$0.hasPrefix("targets/") }
        }
        #expect(try await prune(after: 0.5, keeping: 30) == [])
        #expect(try await prune(after: 2, keeping: 30) == ["models/stray.gguf"])
        #expect(
            try await prune(after: 31, keeping: 30) == ["models/n-v2.0.0-q4.gguf", "models/n-v2.0.0-q4.index"])
        #expect(try origin.names("origin").contains("notes.txt"))
        #expect(try origin.names("origin/targets").count == 1)
        #expect(try origin.names().count == 6)
    }

    @Test func pruningABucketEndsUnfinishedUploads() async throws {
        let bucket = try TestBucket()
        try await bucket.publish(bucket.source("m-v1.0.0-q4.gguf"))
        bucket.server.change { state in
            state.uploads["old"] = BucketServer.Upload(key: "models/x.gguf", headers: [:])
            for name in ["models/stray.gguf", "other/mine.bin"] {
                state.objects[name] = BucketServer.Object(data: Data([1]), headers: [:], modified: .distantPast)
            }
        }
        let publisher = Publisher(target: try bucket.server.target(), time: HurriedClock().time)
        let planned = try await publisher.prune(keeping: 30, isDryRun: true)
        #expect(planned.removed.map(\.place.string) == ["models/stray.gguf"])
        #expect(bucket.server.object("models/stray.gguf") != nil)
        let report = try await publisher.prune(keeping: 30)
        #expect(report.removed == planned.removed)
        #expect(report.abandonedUploads == 1)
        #expect(bucket.server.object("models/stray.gguf") == nil)
        #expect(bucket.server.object("other/mine.bin") != nil)
        try bucket.expectWhole()
    }
}
