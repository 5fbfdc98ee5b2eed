import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// Bytes that failed in the place of a live version's are neither fetched nor kept for nothing.
extension ModelManagerTests {
    /// Version 1.0.0 in an archive of which one file is unpacked.
    private func packed(_ weights: String, note: String = "") -> Offer {
        let archive = ArchiveFiles.tar([("w.gguf", Data(weights.utf8)), ("note.txt", Data(note.utf8))])
        return Offer(
            version: "1.0.0", content: .data(archive),
            extra: #""archive": {"format": "tar", "member": "w.gguf"},"#)
    }

    private var failing: ScriptedProbe {
        ScriptedProbe { _ in throw StoreError(.releaseDamaged, "it says nothing") }
    }

    private func pull(_ reference: String, _ probe: ScriptedProbe, allowUnverified: Bool = false) async -> String? {
        var options = PullOptions()
        options.asksAgain = true
        options.allowUnverified = allowUnverified
        return await code {
            _ = try await manager(probe: probe).pull(ModelReference(parsing: reference), options: options)
        }
    }

    private var transfers: [String] {
        get throws { try LocalFileSystem().contents(of: folder.path("home/transfers")) }
    }

    @Test func anArchiveOfHeldBackBytesIsNotFetchedAgain() async throws {
        offer(packed("old"))
        #expect(await pull("toy", ScriptedProbe()) == nil)
        offer(packed("new"))
        #expect(await pull("toy", failing) == "probe-failed")
        #expect(modelRequests().count == 2)
        #expect(try transfers == [], "nobody asks for them again by himself")

        #expect(await pull("toy", failing) == "held-back" && modelRequests().count == 2)
        let manager = try manager(probe: failing)
        let family = try #require(Family("toy"))
        guard
            case .noUpdate(.notEligible(_, .bytesHeldBack))? = try await manager.updates(of: family, .now).first?.reason
        else {
            Issue.record("it is an update")
            return
        }
        #expect(try await manager.available().map(\.objection) == [.bytesHeldBack])

        // The same in another archive: that is known once it was here.
        offer(packed("new", note: "packed again"))
        for _ in 1...2 { #expect(await pull("toy", failing) == "held-back" && modelRequests().count == 3) }
        #expect(try transfers == [])
        offer(packed("newest"))
        #expect(await pull("toy", failing) == "probe-failed" && modelRequests().count == 4)

        offer(packed("new", note: "packed again"))
        #expect(await pull("toy@1.0.0", ScriptedProbe()) == nil && modelRequests().count == 5)
        let live = try #require(try await manager.store.active(family))
        #expect(try Data(contentsOf: try #require(live.weights).url) == Data("new".utf8))
        #expect(try await manager.store.state(of: family).heldBackContents.count == 1, "of the newest")
    }

    /// An earlier version wrote down what is held back, and nothing of the archive it came in.
    @Test func whatIsHeldBackFromBeforeIsFetchedOnceMore() async throws {
        offer(packed("old"))
        #expect(await pull("toy", ScriptedProbe()) == nil)
        offer(packed("new"))
        #expect(await pull("toy", failing) == "probe-failed")
        let file = folder.path("home/models/toy/state.json").url
        let text = try String(contentsOf: file, encoding: .utf8)
        let earlier = text.replacing(#/,?\s*"promised"\s*:\s*"[0-9a-f]{64}"/#, with: "")
        #expect(earlier != text)
        try Data(earlier.utf8).write(to: file)
        for _ in 1...2 {
            #expect(await pull("toy", failing) == "held-back" && modelRequests().count == 3)
            #expect(try transfers == [])
        }
    }

    /// Without a digest only the bytes themselves tell: they stay, so that they are fetched once, until they fail by name.
    @Test func whatNobodyPromisedIsKeptToBeComparedWith() async throws {
        offer(Offer(version: "1.0.0", content: Self.old, hasDigest: false))
        #expect(await pull("toy", ScriptedProbe(), allowUnverified: true) == nil)
        offer(Offer(version: "1.0.0", content: Self.new, hasDigest: false))
        #expect(await pull("toy", failing, allowUnverified: true) == "probe-failed")
        for _ in 1...2 {
            #expect(await pull("toy", failing, allowUnverified: true) == "held-back")
            #expect(try modelRequests().count == 2 && transfers.count == 1)
        }
        #expect(await pull("toy@1.0.0", failing, allowUnverified: true) == "probe-failed")
        #expect(try modelRequests().count == 2 && transfers == [])
        #expect(await pull("toy@1.0.0", ScriptedProbe(), allowUnverified: true) == nil)
        #expect(modelRequests().count == 3)
    }

    /// Two processes end in the trial; what they had fetched lies there when the next one starts.
    @Test(arguments: [false, true])
    func whatEndedProcessesFetchedGoesUnlessItWasNamed(isNamed: Bool) async throws {
        offer(packed("old"))
        #expect(await pull("toy", ScriptedProbe()) == nil)
        let other = try manager().store
        let ending = ScriptedProbe.endingTwoProcesses(in: other)
        offer(packed("new"))
        var options = PullOptions()
        options.asksAgain = true
        let (ended, wanted) = (try manager(probe: ending), options)
        let reference = try ModelReference(parsing: isNamed ? "toy@1.0.0" : "toy")
        await #expect(throws: CancellationError.self) { _ = try await ended.pull(reference, options: wanted) }
        #expect(try transfers.count == 1 && modelRequests().count == 2)

        let outcomes = try await manager(probe: failing).restoreTransfers(options: options)
        #expect(outcomes.map { ($0.error as? DeliveryError)?.code } == [.heldBack], "\(outcomes)")
        #expect(modelRequests().count == 2)
        #expect(try transfers.count == (isNamed ? 1 : 0))
        // Somebody who tries it by name goes on from there.
        #expect(await pull("toy@1.0.0", ScriptedProbe()) == nil)
        #expect(modelRequests().count == (isNamed ? 2 : 3))
        #expect(try transfers == [])
    }

    /// What a person has paused, or another release is to be made of, is not swept with it.
    @Test(arguments: [TransferPlan.Wish.running, .paused])
    func onlyWhatBelongsToItGoes(wish: TransferPlan.Wish) async throws {
        let identity = try StoreFixture.identity()
        let manager = try manager().transfers
        func left(of release: ReleaseIdentity, _ file: String) throws -> (TransferRequest, TransferFolder) {
            let request = TransferRequest(
                label: file, locations: [try server.url("/\(file)")], size: .exact(1),
                digest: SHA256Digest(hashing: Array(file.utf8)))
            var purpose = TransferPurpose(release: release, source: nil)
            purpose.isNamed = false
            let found = TransferFolder(try TransferKey(request), in: manager.folder, fileSystem: LocalFileSystem())
            try found.begin(TransferPlan(request, for: purpose, at: .now))
            _ = try found.wish(wish)
            return (request, found)
        }
        let own = try left(of: identity, "own")
        let others = try left(of: StoreFixture.identity("2.0.0"), "others")
        for request in [own.0, others.0] { await manager.sweep(request, ofUnnamed: identity) }
        #expect(try own.1.exists() == (wish == .paused))
        #expect(try others.1.exists())
    }

    @Test func anEntrysPromiseIsOneOfTheBytesThatCome() throws {
        func file(_ name: String, _ text: String? = "x") throws -> RemoteFile {
            RemoteFile(
                name: try #require(RelativePath(name)), size: .about(1, limit: 2),
                digest: text.map { SHA256Digest(hashing: Array($0.utf8)) }, locations: [try server.url("/\(name)")])
        }
        var release = Release(identity: try StoreFixture.identity(), id: "a", file: try file("m.gguf"))
        release.companions = [try file("b", "b"), try file("c", "c")]
        let promised = try #require(release.promised)
        var others = [release, release, release, release, release]
        others[0].companions = release.companions.reversed()
        #expect(others[0].promised == promised, "in any order")
        others[0].companions[0] = try file("b", "c")
        others[1].file = try file("n.gguf")
        others[2].archive = Archive(format: .tar)
        others[3].archive = Archive(format: .tar, member: RelativePath("m.gguf"))
        others[4].archive = Archive(format: .zip)
        #expect(Set(others.map(\.promised) + [promised]).count == 6)
        release.companions[1] = try file("c", nil)
        #expect(release.promised == nil, "nobody knows what comes")
        release.companions[1].gitBlob = GitBlobID(hashing: [1])
        #expect(release.promised != nil)
    }
}
