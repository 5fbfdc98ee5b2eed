import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Releases that have files in common, pulled from a server that counts.
@Suite(.timeLimit(.minutes(10))) struct SharingTests {
    private let folder: TemporaryFolder
    private let releases = Locked<[Offer]>([])
    private let served = Locked<[String: UInt64]>([:])
    private let server: FaultServer

    /// A release of several files, by name.
    private struct Offer: Sendable {
        var family = "toy"
        var version: String
        var files: [(name: String, content: Content)]

        var json: String {
            let listed = files.map { name, content in
                #"""
                {"path": "\#(name)", "role": "\#(name.hasPrefix("mmproj") ? "projector" : "shard")", "url": "\#(version)/\#(name)",
                 "sizeBytes": \#(content.count), "sha256": "\#(SHA256Digest(hashing: content.bytes).hex)"}
                """#
            }
            let main = files[0]
            return #"""
                {"id": "\#(family)-\#(version)", "family": "\#(family)", "version": "\#(version)", "filename": "\#(main.name)",
                 "sizeBytes": \#(main.content.count), "sha256": "\#(SHA256Digest(hashing: main.content.bytes).hex)",
                 "minAppVersion": "0.0.0", "downloadUrl": "\#(version)/\#(main.name)",
                 "files": [\#(listed.dropFirst().joined(separator: ","))]}
                """#
        }
    }

    init() throws {
        folder = try TemporaryFolder()
        let (releases, served) = (releases, served)
        server = try FaultServer { request in
            let all = releases.withLock { $0 }
            guard request.path != "/models.json" else {
                let current = Dictionary(all.map { ($0.family, $0.version) }) { $1 }
                let text = current.map { "\"\($0.key)\": \"\($0.value)\"" }.joined(separator: ",")
                let entries = all.map(\.json).joined(separator: ",")
                return .text(#"{"schemaVersion": 1, "current": {\#(text)}, "models": [\#(entries)]}"#)
            }
            for offer in all {
                for (name, content) in offer.files where request.path == "/\(offer.version)/\(name)" {
                    served.withLock { $0[request.path, default: 0] += UInt64(request.asked(of: content.count).count) }
                    return FaultServer.answer(request, with: content)
                }
            }
            return Reply(404)
        }
    }

    private func manager() throws -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
    }

    private func bytesServed() -> UInt64 {
        served.withLock { served in
            defer { served = [:] }
            return served.values.saturatedSum
        }
    }

    /// Nine files of ten are the ones that are here already: at most a tenth and 1 MiB come over the network.
    @Test func aSecondVersionFetchesOnlyWhatIsNew() async throws {
        let size: UInt64 = 1 << 20
        let first = (0..<10).map { ("part-\($0).gguf", Content.pattern(offset: UInt64($0) * 7919, count: size)) }
        var second = first
        second[0].1 = Content.pattern(offset: 99_991, count: size)
        releases.withLock { $0 = [Offer(version: "1.0.0", files: first)] }
        let manager = try manager()
        _ = try await manager.pull(ModelReference(parsing: "toy"))
        #expect(bytesServed() == 10 * size)

        releases.withLock { $0.append(Offer(version: "2.0.0", files: second)) }
        let outcome = try await manager.pull(ModelReference(parsing: "toy"))
        let total = 10 * size
        let fetched = bytesServed()
        print("sharing: \(fetched) of \(total) bytes were fetched for the second version")
        #expect(fetched <= total / 10 + 1 << 20)
        guard case .installed(let release, let counted) = outcome else { throw CancellationError() }
        #expect(counted == size)
        #expect(try await manager.store.verify(release).isIntact)
        let inventory = try await manager.store.inventory()
        #expect(inventory.releases.map(\.receipt.totalSize).saturatedSum == 2 * total)
        #expect(try await manager.store.facts().owners.total == total + size, "what is shared counts once")

        // The first goes, and the second keeps what it shares.
        let one = try #require(inventory.releases.first).identity
        try await manager.store.remove(one.family, version: one.version, variant: nil)
        #expect(try await manager.store.verify(release).isIntact)
        #expect(try await manager.store.facts().owners.total == total)
    }

    @Test func aProjectorIsSharedBetweenFamilies() async throws {
        let projector = Content.pattern(offset: 5, count: 300_000)
        let one = Offer(
            version: "1.0.0",
            files: [("a.gguf", Content.pattern(offset: 1, count: 1000)), ("mmproj.gguf", projector)])
        let two = Offer(
            family: "other", version: "3.0.0",
            files: [("b.gguf", Content.pattern(offset: 2, count: 1000)), ("vision/mmproj-f16.gguf", projector)])
        releases.withLock { $0 = [one, two] }
        let manager = try manager()
        _ = try await manager.pull(ModelReference(parsing: "toy"))
        _ = bytesServed()
        let release = try await manager.pull(ModelReference(parsing: "other")).release
        #expect(bytesServed() == 1000)
        #expect(try await manager.store.verify(release).isIntact)
    }

    /// What is not what its receipt says is fetched, and does not spread.
    @Test func aDamagedFileIsNotShared() async throws {
        let projector = Content.pattern(offset: 5, count: 300_000)
        func offer(_ version: String, _ seed: UInt64) -> Offer {
            Offer(
                version: version,
                files: [("a.gguf", Content.pattern(offset: seed, count: 1000)), ("mmproj.gguf", projector)])
        }
        releases.withLock { $0 = [offer("1.0.0", 1)] }
        let manager = try manager()
        let first = try await manager.pull(ModelReference(parsing: "toy")).release
        let file = try LocalFileSystem().open(try #require(first.projector), .readWrite)
        try [UInt8]([0xAA]).withUnsafeBytes { try LocalFileSystem().write(file, $0, at: 150_000) }
        _ = bytesServed()
        releases.withLock { $0.append(offer("2.0.0", 2)) }
        let second = try await manager.pull(ModelReference(parsing: "toy")).release
        #expect(bytesServed() == 301_000)
        #expect(try await manager.store.verify(second).isIntact)
    }

    /// A release that is damaged comes again by itself, and only what is damaged of it.
    @Test func aDamagedReleaseIsPulledAgain() async throws {
        let files = [
            ("a.gguf", Content.pattern(offset: 1, count: 1000)),
            ("mmproj.gguf", Content.pattern(offset: 5, count: 300_000)),
        ]
        releases.withLock { $0 = [Offer(version: "1.0.0", files: files)] }
        let manager = try manager()
        let first = try await manager.pull(ModelReference(parsing: "toy")).release
        try LocalFileSystem().removeFile(try #require(first.weights))
        _ = bytesServed()
        let again = try await manager.pull(ModelReference(parsing: "toy")).release
        #expect(bytesServed() == 1000)
        #expect(try await manager.store.verify(again).isIntact)
        #expect(again.isActive)
    }
}
