import Foundation
import HearthBase
import HearthCatalog
import HearthTestSupport
import Testing

@testable import HearthPublishing

@Suite(.timeLimit(.minutes(10))) struct SignedOriginTests {
    @Test func aSignedPublicationIsReadByDevicesAndOthers() async throws {
        let lab = try SignedOriginLab()
        let first = try await lab.begin()
        try await lab.publish("m-v1.0.0-q4.gguf")
        let list = try lab.contents("models.json")
        let digest = SHA256Digest(hashing: list)
        #expect(try lab.contents("targets/\(digest.hex).models.json") == list)
        #expect(
            try lab.names("metadata") == [
                "1.root.json", "1.snapshot.json", "1.targets.json", "2.snapshot.json", "2.targets.json",
                "timestamp.json",
            ])
        let listed = try #require(try await lab.folder.repository()).listedFiles
        #expect(listed.keys.sorted() == ["models.json", "models/m-v1.0.0-q4.index"])
        let index = try #require(listed["models/m-v1.0.0-q4.index"])
        let name = try #require(index.addressName(isConsistent: true))
        #expect(try lab.contents("targets/\(name)") == lab.contents("models/m-v1.0.0-q4.index"))
        #expect(try await lab.seen(lab.device(root: first.root.data)) == ["1.0.0"])
        #expect(!lab.network.requests.withLock { $0.contains("models.json") })
    }

    @Test func theSameListIsSignedOnce() async throws {
        let lab = try SignedOriginLab()
        try await lab.begin()
        try await lab.publish("m-v1.0.0-q4.gguf")
        let before = try lab.contents("metadata/timestamp.json")
        #expect(try await !OriginSigner(signers: lab.signers).sign(lab.folder.target, now: lab.now))
        #expect(try lab.contents("metadata/timestamp.json") == before)
        // What was published without a signature is signed afterwards.
        try await lab.origin.publish(lab.origin.source("m-v1.1.0-q4.gguf", [9]))
        #expect(try await OriginSigner(signers: lab.signers).sign(lab.folder.target, now: lab.now))
    }

    /// What was done without a signature is signed by the same edit with one, though nothing is left to change.
    @Test(arguments: ["yank", "rollout", "unpublish", "publish"])
    func anEditThatIsDoneAlreadyIsSigned(_ verb: String) async throws {
        let lab = try SignedOriginLab()
        let device = try lab.device(root: try await lab.begin().root.data)
        for name in ["m-v1.0.0-q4.gguf", "m-v1.1.0-q4.gguf"] { try await lab.publish(name, Array(name.utf8)) }
        let choice = ReleaseChoice(
            family: try #require(Family("m")), version: ReleaseVersion("1.1.0"), variant: nil)
        /// - Returns: the plan.
        func edit(_ publisher: Publisher) async throws -> PublishPlan {
            switch verb {
            case "yank": try await publisher.yank(choice, reason: "bad").plan
            case "rollout": try await publisher.rollout(choice, .halt).plan
            case "unpublish": try await publisher.unpublish(choice).plan
            default:
                try await publisher.publish(
                    PublishRequest(files: [try lab.origin.source("m-v1.2.0-q4.gguf", [9])])
                ).plan
            }
        }
        let origin = lab.origin
        var publisher = Publisher(folder: origin.path, fileSystem: origin.fileSystem, time: origin.clock.time)
        let before = try (lab.contents("models.json"), lab.contents("metadata/timestamp.json"))
        let refused = await #expect(throws: PublishingError.self) { try await edit(publisher) }
        #expect(refused?.code == .signatureNeeded)
        #expect(try lab.contents("models.json") == before.0, "nothing is changed")
        publisher.isSignedElsewhere = true
        _ = try await edit(publisher)
        let seen = try await lab.seen(device)
        let edited = try lab.contents("models.json")
        #expect(edited != before.0)
        #expect(try lab.contents("metadata/timestamp.json") == before.1)
        publisher.isSignedElsewhere = false
        publisher.signing = OriginSigner(signers: lab.signers)
        #expect(try await edit(publisher).steps.contains { $0.kind == .timestamp })
        #expect(try lab.contents("models.json") == edited)
        let listed = try #require(try await lab.folder.repository()).listedFiles["models.json"]
        #expect(listed?.digests.sha256 == SHA256Digest(hashing: edited))
        if verb == "unpublish" { #expect(seen.contains("1.1.0")) }
        if verb == "unpublish" { #expect(try await !lab.seen(device).contains("1.1.0")) }
        // Signed once: the third time there is nothing to do.
        if verb == "unpublish" {
            let gone = await #expect(throws: PublishingError.self) { try await edit(publisher) }
            #expect(gone?.code == .notPublished)
        } else {
            #expect(try await edit(publisher).steps.isEmpty)
        }
    }

    @Test(arguments: [MetadataRole.targets, .snapshot, .timestamp])
    func withoutAKeyNothingIsCopied(_ missing: MetadataRole) async throws {
        let lab = try SignedOriginLab()
        try await lab.begin()
        let signers = MetadataRole.topLevel.filter { $0 != missing }.compactMap { lab.keys[$0] }
        let error = await #expect(throws: TrustError.self) {
            try await lab.publish("m-v1.0.0-q4.gguf", signers: signers)
        }
        #expect(error?.code.rawValue == "too-few-signatures")
        #expect(error?.context.file == "\(missing)")
        #expect(try !lab.names("").contains("models.json"))
    }

    @Test func anOriginWithoutKeysIsNotSigned() async throws {
        let lab = try SignedOriginLab()
        let error = await #expect(throws: TrustError.self) { try await lab.publish("m-v1.0.0-q4.gguf") }
        #expect(error?.code.rawValue == "metadata-missing")
        #expect(try LocalFileSystem().status(at: lab.origin.path) == nil)
        #expect(try await lab.folder.repository() == nil)
    }

    @Test func anIndexThatIsAnotherOneIsNotSigned() async throws {
        let lab = try SignedOriginLab()
        try await lab.begin()
        try await lab.origin.publish(lab.origin.source("m-v1.0.0-q4.gguf"))
        try lab.origin.folder.write("origin/models/m-v1.0.0-q4.index", Data("other".utf8))
        let error = await #expect(throws: TrustError.self) {
            try await OriginSigner(signers: lab.signers).sign(lab.folder.target, now: lab.now)
        }
        #expect(error?.code.rawValue == "target-mismatch")
    }

    /// Whichever write fails, a device reads the list before or the new one, and the next attempt succeeds.
    @Test func aFailingDiskLeavesTheOriginWhole() async throws {
        var call = 1
        while true {
            // Each publication makes many files; a share of the calls is enough for every day.
            call += TestExtent.isFull ? 1 : 6
            let lab = try SignedOriginLab()
            let first = try await lab.begin()
            try await lab.publish("m-v1.0.0-q4.gguf")
            try await lab.origin.publish(lab.origin.source("m-v1.1.0-q4.gguf", [9]))
            let disk = FaultyFileSystem()
            disk.fail(call: call, errno: ENOSPC)
            var failure: (any Error)?
            do {
                try await OriginSigner(signers: lab.signers)
                    .sign(SignedOrigin(folder: lab.origin.path, fileSystem: disk).target, now: lab.now)
            } catch {
                failure = error
            }
            guard disk.mutations.count >= call else {
                #expect(failure == nil)
                break
            }
            #expect(failure is FileError)
            let device = try lab.device(root: first.root.data)
            let seen = try await lab.seen(device)
            #expect(seen == ["1.0.0"] || seen.count == 2, "call \(call)")
            try await OriginSigner(signers: lab.signers).sign(lab.folder.target, now: lab.now)
            #expect(try await lab.seen(device).count == 2, "call \(call)")
        }
        #expect(call > 8)
    }

    /// A new root is written, and then the program ends.
    @Test(arguments: [MetadataRole.targets, .snapshot, .timestamp])
    func anInterruptedChangeOfKeysIsCompleted(_ role: MetadataRole) async throws {
        let lab = try SignedOriginLab()
        let first = try await lab.begin()
        try await lab.publish("m-v1.0.0-q4.gguf")
        var repository = try #require(try await lab.folder.repository())
        let fresh = Ed25519Key()
        let signers: [any MetadataSigner] = lab.signers + [fresh]
        let next = try repository.successor([role: RoleDraft(keys: [fresh])], signers: signers, now: lab.now)
        try repository.take(root: next, signers: signers, now: lab.now)
        try lab.origin.folder.write("origin/metadata/2.root.json", next.data)
        let left = try #require(try await lab.folder.repository())
        #expect(left.outdated == [role])
        var completed = left
        try completed.renew(signers: signers, now: lab.now)
        #expect(completed.outdated.isEmpty)
        try await lab.folder.write(completed)
        #expect(try await lab.folder.repository()?.outdated == [])
        #expect(try await lab.seen(lab.device(root: first.root.data)) == ["1.0.0"])
    }

    @Test(arguments: MetadataRole.topLevel) func eachRoleIsRenewed(_ role: MetadataRole) async throws {
        let lab = try SignedOriginLab()
        var repository = try await lab.begin()
        repository.lifetimes[role] = 10
        if role == .root {
            try repository.take(
                root: repository.successor([:], signers: lab.signers, now: lab.now), signers: lab.signers, now: lab.now)
            #expect(try repository.rootMetadata.fields.version == 2)
            return
        }
        try repository.renew(role, signers: lab.signers, now: lab.now)
        let expires = lab.now.addingTimeInterval(10 * 86400)
        let found =
            switch role {
            case .targets: try TargetsMetadata(repository.targets).fields.expires
            case .snapshot: try SnapshotMetadata(repository.snapshot).fields.expires
            default: try TimestampMetadata(repository.timestamp).fields.expires
            }
        #expect(found == expires)
    }

    @Test func aFirstRootIsSignedOnSeveralMachines() throws {
        let lab = try SignedOriginLab()
        let owners = [Ed25519Key(), Ed25519Key()]
        var roles = lab.keys.mapValues { RoleDraft(keys: [$0]) }
        roles[.root] = RoleDraft(keys: owners, threshold: 2)
        var draft = try TrustRepository.firstRoot(roles, signers: [owners[0]], now: lab.now)
        #expect(throws: TrustError.self) { try TrustRepository(first: draft, signers: lab.signers, now: lab.now) }
        draft = try SignedMetadata(parsing: draft.data, .root)
        try draft.sign(with: owners[1])
        let repository = try TrustRepository(first: draft, signers: lab.signers, now: lab.now)
        #expect(try repository.root.version() == 1)
        // A later root begins no origin.
        let later = try repository.successor([:], signers: owners, now: lab.now)
        let error = #expect(throws: TrustError.self) {
            try TrustRepository(first: later, signers: lab.signers, now: lab.now)
        }
        #expect(error?.code.rawValue == "metadata-mismatch")
    }
}
