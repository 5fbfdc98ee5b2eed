import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// An origin with a small version 1.0.0 of a model, which is what a device has, and a version 2.0.0, which it is to get;
/// and homes to kill pulls in.
struct CrashLab {
    static let family = "big"
    private static let old = Content.pattern(offset: 5, count: 1000)

    let folder: TemporaryFolder
    let content: Content
    let digest: SHA256Digest
    private let oldDigest = SHA256Digest(hashing: CrashLab.old.bytes)

    /// Publishes version 2.0.0 with `size` bytes, and installs version 1.0.0 in the home that others are copies of.
    init(size: UInt64) async throws {
        folder = try TemporaryFolder()
        content = Content.pattern(offset: 1_000_003, count: size)
        var hasher = SHA256Hasher()
        let file = try LocalFileSystem().open(folder.path("big-v2.0.0.onnx"), .createNew)
        for start in stride(from: 0, to: size, by: 1 << 20) {
            let piece = content.slice(start..<min(size, start + 1 << 20)).bytes
            try piece.withUnsafeBytes {
                hasher.update($0)
                try LocalFileSystem().write(file, $0, at: start)
            }
        }
        digest = hasher.finalize()
        try folder.write("big-v1.0.0.onnx", Self.old.bytes)
        for version in ["1.0.0", "2.0.0"] {
            let name = folder.path("big-v\(version).onnx")
            let published = try await ChildProcess.run(["publish", name.string, "--to", folder.path("origin").string])
            try #require(published.status == 0, "\(published.errors)")
            try LocalFileSystem().removeFile(name)
        }
        let server = try serve()
        let pulled = try await hearth(["pull", "big@1.0.0"], folder.path("template"), server)
        try #require(pulled.status == 0, "\(pulled.errors)")
    }

    /// A server of the origin, with a record of its own.
    func serve(bytesPerSecond: Int? = nil) throws -> FaultServer {
        let (origin, content) = (folder.path("origin").string, content)
        return try FaultServer { request in
            if CrashLab.isModel(request) {
                let reply = FaultServer.answer(request, with: content)
                return bytesPerSecond.map { reply.paced(bytesPerSecond: $0) } ?? reply
            }
            guard let data = FileManager.default.contents(atPath: origin + request.path) else { return Reply(404) }
            return FaultServer.answer(request, with: .data(data), etag: nil)
        }
    }

    private static func isModel(_ request: RecordedRequest) -> Bool { request.path.hasSuffix("big-v2.0.0.onnx") }

    /// The bytes of version 2.0.0 that a server gave away, once nobody is connected any more.
    func served(by server: FaultServer) async -> UInt64 {
        Self.served(await server.wait { $0.connectionsOpen == 0 })
    }

    static func served(_ record: ServerRecord) -> UInt64 {
        record.requests.filter(Self.isModel).reduce(0) { $0 + $1.bytesSent }
    }

    /// A home that has version 1.0.0.
    func home(_ name: String) throws -> Path {
        let home = folder.path(name)
        try FileManager.default.copyItem(atPath: folder.path("template").string, toPath: home.string)
        return home
    }

    func environment(_ home: Path, _ server: FaultServer) throws -> [String: String] {
        [
            "HEARTH_HOME": home.string, "HEARTH_ORIGIN": try server.url("/models.json").absoluteString,
            "HOME": folder.path.string,
        ]
    }

    func hearth(_ words: [String], _ home: Path, _ server: FaultServer) async throws -> ChildProcess.Result {
        try await ChildProcess.run(words, environment: try environment(home, server))
    }

    // MARK: After a kill

    /// What the records of a home vouch for, of version 2.0.0.
    func recorded(_ home: Path) throws -> RangeSet<UInt64> {
        try Self.recorded(in: Path(home.string + "/transfers/\(digest.hex)"))
    }

    /// The bytes the journal in the folder of a transfer vouches for.
    static func recorded(in place: Path) throws -> RangeSet<UInt64> {
        let disk = LocalFileSystem()
        guard try disk.status(at: place.appending("data.part")) != nil else { return RangeSet() }
        return try TransferJournal.read(place.appending("journal"), in: disk)?.held ?? RangeSet()
    }

    /// The bytes of version 2.0.0 that a program that stands still has read from a server. What moves between the sockets while
    /// they are looked at counts as read, so the least of several looks is nearest.
    func taken(from server: FaultServer) -> RangeSet<UInt64> {
        (0..<5).map { _ in takenAtOnce(from: server) }.min { $0.byteCount < $1.byteCount } ?? RangeSet()
    }

    private func takenAtOnce(from server: FaultServer) -> RangeSet<UInt64> {
        var (record, unread) = server.recordAndUnread()
        let requests = record.requests.filter(Self.isModel)
        let asked = requests.map { $0.asked(of: content.count) }
        var taken = RangeSet<UInt64>()
        for (request, range) in zip(requests, asked).reversed() {
            // Of a connection that was given up nobody knows how much was read: that is recorded, or another one brings it.
            guard let left = unread[request.connection] else { continue }
            // What nobody has read came last.
            let waiting = min(left, request.bytesSent)
            unread[request.connection] = left - waiting
            let end = min(range.lowerBound + request.bytesSent - waiting, range.upperBound)
            // Where another request begins within this one, that one has taken over the rest, and what still came is dropped.
            let cut = asked.map(\.lowerBound).filter { range.lowerBound < $0 && $0 < end }.min() ?? end
            if range.lowerBound < cut { taken.insert(contentsOf: range.lowerBound..<cut) }
        }
        return taken
    }

    /// What always holds: the active release is one of the two, and everything that is listed is whole to its last byte.
    /// - Returns: whether version 2.0.0 is installed.
    @discardableResult
    func checkHome(_ home: Path, _ note: String) async throws -> Bool {
        let store = ModelStore(home: home)
        let inventory = try await store.inventory()
        #expect(inventory.damaged.isEmpty, "\(note)")
        for release in inventory.releases {
            #expect(try await store.verify(release).isIntact, "\(note): \(release.identity)")
            let right = release.identity.version.name == "2.0.0" ? digest : oldDigest
            #expect(release.receipt.files.map(\.digest) == [right], "\(note)")
        }
        let active = try await store.active(try #require(Family(Self.family)))
        #expect(active.map { inventory.releases.contains($0) } == true, "\(note): something else is active")
        return inventory.releases.contains { $0.identity.version.name == "2.0.0" }
    }

    /// The same, by the program itself.
    func checkByCommand(_ home: Path, _ server: FaultServer, _ note: String) async throws {
        let listed = try await hearth(["list", "--format", "json"], home, server)
        let list = try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]]
        #expect(list?.count { $0["active"] as? Bool == true } == 1, "\(note): \(listed.output) \(listed.errors)")
        let verified = try await hearth(["verify"], home, server)
        #expect(verified.status == 0 && verified.output.contains("intact"), "\(note): \(verified.errors)")
    }

    /// Version 2.0.0 is active and whole.
    func checkDone(_ home: Path, _ note: String) async throws {
        #expect(try await checkHome(home, note), "\(note)")
        let active = try await ModelStore(home: home).active(try #require(Family(Self.family)))
        let path = try #require(active?.weights)
        #expect(try LocalFileSystem().digest(ofFile: path) == digest, "\(note)")
    }
}

/// The child process that ends itself at a chosen call to the disk.
struct CrashProbe {
    static let program = Path(ChildProcess.hearth.parent.string + "/HearthCrashProbe")

    /// What it said before its end.
    struct Report {
        let status: Int32
        let steps: [KillingFileSystem.Step]
        /// The bytes of the file whose write was done.
        let written: RangeSet<UInt64>
        let fetched: UInt64?
        let errors: String

        init(_ result: ChildProcess.Result) {
            status = result.status
            let lines = result.output.split(separator: "\n")
            errors = lines.filter { $0.hasPrefix("error") }.joined(separator: " ") + result.errors
            steps = lines.filter { $0.hasPrefix("step ") }.compactMap { KillingFileSystem.Step($0.dropFirst(5)) }
            written = RangeSet(
                lines.filter { $0.hasPrefix("wrote ") }.compactMap { line in
                    let bounds = line.split(separator: " ").dropFirst().compactMap { UInt64($0) }
                    return bounds.count == 2 ? bounds[0]..<bounds[1] : nil
                })
            fetched = lines.first { $0.hasPrefix("fetched ") }.flatMap { UInt64($0.dropFirst(8)) }
        }
    }

    static func start(_ words: [String], kill: KillingFileSystem.Kill? = nil) throws -> ChildProcess {
        let environment = kill.map { ["HEARTH_CRASH": "\($0.moment.rawValue) \($0.occurrence) \($0.step)"] } ?? [:]
        return try ChildProcess(words, program: program, environment: environment)
    }

    static func run(_ words: [String], kill: KillingFileSystem.Kill? = nil) async throws -> Report {
        Report(try await start(words, kill: kill).result())
    }
}

extension ChildProcess {
    /// Returns once it has told of so many steps, or has ended.
    func steps(_ count: Int) async {
        var seen = 0
        guard count > 0 else { return }
        for await line in outputLines where line.hasPrefix("step ") {
            seen += 1
            if seen >= count { return }
        }
    }
}
