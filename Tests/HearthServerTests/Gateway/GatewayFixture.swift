import Foundation
import HearthBase
import HearthDatabase
import HearthHTTP
import HearthRouting
import HearthTestSupport

@testable import HearthServer

/// The databases on which the tests of a gateway's records run: SQLite, and PostgreSQL if `HEARTH_TEST_POSTGRES` has the
/// address of an empty one, as in the stage `gateway` of `make verify`.
enum GatewayDatabase: String, Sendable, CaseIterable {
    case sqlite, postgres

    private static let address = ProcessInfo.processInfo.environment["HEARTH_TEST_POSTGRES"]

    static let available: [Self] = {
        guard let address, !address.isEmpty else {
            print("gateway: HEARTH_TEST_POSTGRES is not set; the records are tested on SQLite only")
            return [.sqlite]
        }
        return allCases
    }()

    /// Runs a body with empty records.
    func with(_ body: @Sendable (GatewayStore) async throws -> Void) async throws {
        let store: GatewayStore
        switch self {
        case .sqlite: store = GatewayStore(try await Database(path: nil, migrations: GatewayStore.migrations))
        case .postgres:
            let address = Self.address ?? ""
            let schema = "t_" + Claim.newToken()
            let outside = try await PostgresDatabase(address, migrations: [], connections: 1)
            try await outside.transaction { try $0.execute("CREATE SCHEMA \(schema)") }
            await outside.close()
            let mark = address.contains("?") ? "&" : "?"
            store = try await .open("\(address)\(mark)options=-csearch_path%3D\(schema)", file: Path("unused"))
        }
        do {
            try await body(store)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }
}

/// A stand-in for Gemini in memory: it answers what the test scripts.
final class ScriptedCloud: HTTPClient {
    /// One answer: a status and the pieces of a body, after which the connection may break.
    struct Answer: Sendable {
        var status = 200
        var headers: HTTPHeaders = [:]
        var pieces: [String] = []
        var breaks = false
        /// Waits after the pieces until the caller's task is cancelled.
        var hangs = false
    }

    let requests = Locked<[HTTPRequest]>([])
    private let answer: @Sendable (HTTPRequest) -> Answer

    init(_ answer: @escaping @Sendable (HTTPRequest) -> Answer) { self.answer = answer }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.withLock { $0.append(request) }
        let answer = answer(request)
        let rest = Locked(answer.pieces[...])
        let body = HTTPBody {
            if let piece = rest.withLock({ $0.popFirst() }) { return Array(piece.utf8) }
            if answer.hangs { try await Task.sleep(for: .seconds(3600)) }
            if answer.breaks { throw HTTPError(.connectionLost, "the script breaks off", disposition: .tryLater) }
            return nil
        }
        return HTTPResponse(status: answer.status, headers: answer.headers, url: request.url, body: body)
    }
}

/// A gateway without a network, with records in memory.
final class GatewayFixture: Sendable {
    static let cloudKey = "cloud-secret-key"

    let folder: TemporaryFolder
    let store: GatewayStore
    let gateway: Gateway
    let cloud: ScriptedCloud
    let clock = ManualClock()

    init(
        store: GatewayStore? = nil, http: (any HTTPClient)? = nil, cloudURL: String = "https://cloud.example",
        _ answer: @escaping @Sendable (HTTPRequest) -> ScriptedCloud.Answer = { _ in .init() }
    ) async throws {
        folder = try TemporaryFolder()
        if let store {
            self.store = store
        } else {
            self.store = GatewayStore(try await Database(path: nil, migrations: GatewayStore.migrations))
        }
        cloud = ScriptedCloud(answer)
        let bucket = try required(URL(string: "https://s3.example/bucket/origin"))
        let files = try required(URL(string: "https://models.example/files/"))
        let signer = AddressSigner(bucket: bucket, published: files, lifetime: 900) { url, seconds, date in
            url.appending(queryItems: [
                URLQueryItem(name: "signed", value: "\(date.wholeSeconds)+\(seconds)")
            ])
        }
        let secret = try required(Secret(Self.cloudKey))
        let relay = ChatRelay(
            url: try required(URL(string: cloudURL)), model: "gemini-2.5-flash", key: secret, http: http ?? cloud)
        gateway = Gateway(
            store: self.store, signer: signer, relay: relay,
            audit: AuditLog(folder.path("audit.log"), time: clock.time), time: clock.time)
    }

    /// A key for both rights.
    func key(
        _ scopes: Set<GatewayScope> = [.download, .chat], tier: Tier = .starter, credits: Int? = nil,
        addresses: Int? = nil, expires: Date? = nil
    ) async throws -> String {
        try await store.create(
            GatewayKey(
                id: "", name: "test", scopes: scopes, tier: tier, credits: credits, addressesPerDay: addresses,
                created: clock.time.now, expires: expires))
    }

    /// Asks without a network.
    func ask(
        _ path: String, key: String?, body: String = "", headers: HTTPHeaders = [:], method: String = "POST"
    ) async throws -> (status: Int, headers: HTTPHeaders, body: String) {
        var headers = headers
        if let key { headers["Authorization"] = "Bearer \(key)" }
        var request = ServerRequest(
            method: method, target: path, headers: headers, body: RequestBody(Array(body.utf8)))
        request.id = "r1"
        let reply = await gateway.reply(to: request)
        let bytes = try await reply.collectedBody()
        return (reply.status, reply.headers, String(decoding: bytes, as: UTF8.self))
    }

    /// Asks for the address of a file.
    func address(_ location: String, key: String?) async throws -> (status: Int, headers: HTTPHeaders, body: String) {
        try await ask(
            "/models/address", key: key,
            body: String(decoding: JSONValue.object(["location": .string(location)]).data, as: UTF8.self))
    }

    /// Asks the cloud model.
    func chat(
        key: String?, turn: String? = nil, body: String = GatewayFixture.question, accept: String? = nil
    ) async throws -> (status: Int, headers: HTTPHeaders, body: String) {
        var headers: HTTPHeaders = [:]
        headers["X-Hearth-Turn"] = turn
        headers["Accept"] = accept
        return try await ask("/ai/chat", key: key, body: body, headers: headers)
    }

    /// The lines of the audit log.
    func audit() throws -> [JSONValue] {
        let text = String(
            decoding: try LocalFileSystem().contents(ofFile: folder.path("audit.log"), limit: 1 << 24),
            as: UTF8.self)
        return try text.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
    }

    static let question = #"{"contents":[{"role":"user","parts":[{"text":"a private question"}]}]}"#
    static let token = #"{"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"}}]}"#
    static let end = #"{"candidates":[{"content":{"parts":[{"text":"."}]},"finishReason":"STOP"}]}"#
    static let blocked = #"{"promptFeedback":{"blockReason":"SAFETY"}}"#
}

/// The code in an error's body.
func errorCode(_ body: String) -> String? {
    let error = (try? JSONValue(parsing: Data(body.utf8)))?.members?["error"]?.members
    if case .string(let code)? = error?["code"] { return code }
    return nil
}
