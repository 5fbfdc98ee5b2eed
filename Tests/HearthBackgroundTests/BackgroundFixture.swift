import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthBackground

/// An origin with one model, a home in which its download was left unfinished, and a played service of the system.
struct BackgroundFixture {
    /// The bytes of a piece: the model has three of them, the last one shorter.
    static let length: UInt64 = 20_000
    static let content = Content.pattern(count: 50_000)
    static let pieces: [Range<UInt64>] = [0..<20_000, 20_000..<40_000, 40_000..<50_000]
    static let identifier = "tests"

    let folder: TemporaryFolder
    let server: FaultServer
    let service: PlayedService
    let gate = Gate()
    let digest = SHA256Digest(hashing: content.bytes)

    /// - Parameter stalls: whether the first reply with the model's bytes stops on its way.
    init(stalls: Bool = false) throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        service = PlayedService(folder)
        let manifest = """
            {"schemaVersion": 1, "currentVersion": "1.0.0", "models": [
             {"id": "toy", "version": "1.0.0", "filename": "toy-v1.0.0-q4_1.gguf", "sizeBytes": \(Self.content.count),
              "sha256": "\(digest.hex)", "minAppVersion": "1.0.0", "downloadUrl": "models/toy-v1.0.0-q4_1.gguf"}]}
            """
        let (gate, isFirst) = (gate, Locked(stalls))
        server = try FaultServer { request in
            if request.path == "/models.json" { return .text(manifest) }
            let reply = FaultServer.answer(request, with: Self.content)
            let stalls = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return stalls ? reply.stalled(after: 30_000, at: gate) : reply
        }
    }

    /// The requests for the model's bytes by this process.
    var modelRequests: Int { server.requests.count { $0.path != "/models.json" } }

    /// The manager of a process that begins now.
    func manager(_ disk: any FileSystem = LocalFileSystem()) throws -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            fileSystem: disk, network: UnmonitoredNetwork(), deviceMemory: 8 << 30)
    }

    /// The downloads of a process that begins now.
    func downloads(_ manager: ModelManager) -> BackgroundDownloads {
        BackgroundDownloads(
            manager, identifier: Self.identifier, limits: PieceLimits(length: Self.length)
        ) { [service] in service.session($0, $1) }
    }

    /// Leaves a download on the disk that has none of its bytes.
    func interrupt(_ manager: ModelManager) async throws {
        let offer = try await manager.resolve(ModelReference(parsing: "toy"))
        let file = try #require(offer.release.files.first)
        let purpose = TransferPurpose(release: offer.release.identity, source: offer.location)
        let place = try #require(self.place(manager))
        try LocalFileSystem().makeFolders(place.path)
        try place.begin(TransferPlan(TransferRequest(file), tag: purpose.tag, at: Date()))
    }

    func place(_ manager: ModelManager) -> TransferFolder? {
        TransferFolder(digest, in: manager.transfers.folder, fileSystem: LocalFileSystem())
    }

    /// The bytes of a range.
    func bytes(_ range: Range<UInt64>) -> Data { Self.content.slice(range).bytes }

    /// Brings the bytes of a task.
    func land(_ order: PieceOrder) { service.land(order, bytes(order.range)) }

    /// Whether the model is installed with its own bytes.
    func isInstalled(_ manager: ModelManager) async throws -> Bool {
        guard let weights = try await manager.installed().first?.weights else { return false }
        return try LocalFileSystem().digest(ofFile: weights) == digest
    }
}
