import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthPublishing
import HearthTestSupport

/// A signed origin in a folder, and a device that reads it through a network on which a test can interfere.
struct SignedOriginLab {
    let origin: TestOrigin
    let keys: [MetadataRole: Ed25519Key]
    let network: TamperedNetwork

    init() throws {
        origin = try TestOrigin()
        keys = Dictionary(uniqueKeysWithValues: MetadataRole.topLevel.map { ($0, Ed25519Key()) })
        network = TamperedNetwork(folder: origin.path)
    }

    var signers: [any MetadataSigner] { MetadataRole.topLevel.compactMap { keys[$0] } }
    var folder: SignedOrigin { SignedOrigin(folder: origin.path, fileSystem: origin.fileSystem) }
    var now: Date { origin.clock.time.now }

    func key(_ role: MetadataRole) throws -> Ed25519Key { try required(keys[role]) }

    /// Gives the origin its first root.
    @discardableResult
    func begin() async throws -> TrustRepository {
        let repository = try TrustRepository(
            roles: keys.mapValues { RoleDraft(keys: [$0]) }, signers: signers, now: now)
        try await folder.write(repository)
        return repository
    }

    /// Publishes a release and signs the list.
    @discardableResult
    func publish(
        _ name: String, _ payload: [UInt8] = [1, 2, 3], signers: [any MetadataSigner]? = nil
    ) async throws -> PublishReport {
        var publisher = Publisher(folder: origin.path, fileSystem: origin.fileSystem, time: origin.clock.time)
        publisher.signing = OriginSigner(signers: signers ?? self.signers)
        return try await publisher.publish(PublishRequest(files: [try origin.source(name, payload)]))
    }

    func contents(_ path: String) throws -> Data {
        try LocalFileSystem().contents(ofFile: Path(origin.path.string + "/" + path), limit: 1 << 24)
    }

    func names(_ folder: String) throws -> [String] { try origin.names("origin/\(folder)") }

    /// A device that trusts the first root, unless told otherwise.
    func device(root: Data? = nil, asksForRoot: Bool = false, name: String = "device") throws -> OriginSource {
        let url = try required(URL(string: "https://models.example/o/models.json"))
        return OriginSource(
            Origin(name: "main", manifestURL: url, root: root), family: nil,
            folder: origin.folder.path("device").appendingName(name).appending("catalogs"),
            fetcher: CatalogFetcher(http: network), fileSystem: LocalFileSystem(), time: origin.clock.time,
            asksForRoot: asksForRoot)
    }

    /// The versions that a device sees.
    func seen(_ source: OriginSource) async throws -> [String] {
        try await source.listing(.now).catalog.releases.map(\.identity.version.name)
    }

    /// The code and the sentence of a refused update.
    func refusal(_ source: OriginSource) async -> (code: String, sentence: String)? {
        do {
            _ = try await source.listing(.now)
            return nil
        } catch let error as any HearthFailure {
            return (error.codeText, error.message)
        } catch {
            return ("", "\(error)")
        }
    }
}

extension Path {
    fileprivate func appendingName(_ name: String) -> Path { PathComponent(name).map { appending($0) } ?? self }
}

/// Serves an origin's folder, except for files that an attacker on the way replaces, withholds or delays.
final class TamperedNetwork: HTTPClient {
    enum Answer: Sendable {
        case bytes(Data)
        case missing
        /// Bytes without an end.
        case endless
        /// The bytes come so slowly that the time limit of a file passes.
        case slow
    }

    private let folder: Path
    let answers = Locked<[String: Answer]>([:])
    let requests = Locked<[String]>([])

    init(folder: Path) { self.folder = folder }

    func tamper(_ name: String, _ answer: Answer?) { answers.withLock { $0[name] = answer } }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let name = String(request.url.path(percentEncoded: false).dropFirst("/o/".count))
        requests.withLock { $0.append(name) }
        switch answers.withLock({ $0[name] }) {
        case .bytes(let data): return respond(request, data)
        case .missing: return respond(request, nil)
        case .slow: throw HTTPError(.timedOut, "no answer in time", disposition: .tryLater)
        case .endless:
            let sent = Locked(UInt64(0))
            return HTTPResponse(
                status: 200, headers: [:], url: request.url,
                body: HTTPBody {
                    let total = sent.withLock { sent in
                        sent += 65536
                        return sent
                    }
                    // As the client of the product does: it never reads further than asked.
                    if total > request.maximumBodySize ?? .max { throw HTTPError(.tooLarge, "the answer does not end") }
                    return [UInt8](repeating: 32, count: 65536)
                })
        case nil:
            let path = Path(folder.string + "/" + name)
            guard try LocalFileSystem().status(at: path) != nil else { return respond(request, nil) }
            return respond(request, try LocalFileSystem().contents(ofFile: path, limit: 1 << 24))
        }
    }

    private func respond(_ request: HTTPRequest, _ data: Data?) -> HTTPResponse {
        HTTPResponse(
            status: data == nil ? 404 : 200, headers: [:], url: request.url, body: HTTPBody([UInt8](data ?? Data())))
    }
}
