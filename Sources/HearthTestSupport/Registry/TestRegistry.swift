import Foundation
import HearthBase
import HearthHTTP

/// An OCI registry inside the test process, with a token server and a second host as its storage.
///
/// ```swift
/// let registry = try TestRegistry()
/// let layer = registry.store(.pattern(count: 5000), type: "application/vnd.docker.ai.gguf.v3", name: "m.gguf")
/// registry.publish("ai/m", tag: "1", layers: [layer])
/// let reference = "oci://\(registry.host)/ai/m:1"
/// ```
/// Like Docker's: blobs have ranges and their digest as entity tag; a push of other bytes than its digest says is
/// refused; there is no list of referrers.
package final class TestRegistry: Sendable {
    /// How a client has to log in.
    package enum Access: Sendable, Hashable {
        case everybody
        /// With a token; the token server gives one to every client.
        case tokens
        /// With a token, for which the token server wants `user:password` or the refresh token.
        case accounts
        /// With `user:password`.
        case basic
    }

    struct State: Sendable {
        var access = Access.everybody
        var redirects = false
        var blobs: [String: Content] = [:]
        var manifests: [String: Data] = [:]
        var uploads: [String: Data] = [:]
        /// The number of the only token that is accepted.
        var token = 0
        var disturbance: (@Sendable (RecordedRequest) -> Reply?)?
        var tokenDisturbance: (@Sendable (RecordedRequest) -> Reply?)?
    }

    package static let account = "user:pass word"
    package static let refreshToken = "refresh-token-of-the-test"

    package let server: FaultServer
    package let tokens: FaultServer
    package let storage: FaultServer
    private let state: Locked<State>

    /// Makes a registry without repositories.
    package init() throws {
        let state = Locked(State())
        self.state = state
        let storage = try FaultServer { request in
            // A signed address of a storage refuses other credentials.
            guard request.headers["Authorization"] == nil else { return Reply(400) }
            let blob = state.withLock { $0.blobs[String(request.path.dropFirst())] }
            return blob.map { FaultServer.answer(request, with: $0) } ?? Reply(404)
        }
        let tokens = try FaultServer { request in
            if let reply = state.withLock({ $0.tokenDisturbance })?(request) { return reply }
            return Self.token(request, state)
        }
        (self.storage, self.tokens) = (storage, tokens)
        let (storagePort, tokenPort) = (storage.port, tokens.port)
        server = try FaultServer { request in
            if let reply = state.withLock({ $0.disturbance })?(request) { return reply }
            return RegistryAnswers(state: state, storagePort: storagePort, tokenPort: tokenPort).answer(request)
        }
    }

    /// `host:port`, for references.
    package var host: String { "127.0.0.1:\(server.port)" }

    package func require(_ access: Access) { state.withLock { $0.access = access } }
    /// Sends requests for blobs to the storage.
    package func redirectBlobs() { state.withLock { $0.redirects = true } }
    /// Refuses all tokens given out so far.
    package func expireTokens() { state.withLock { $0.token += 1 } }

    /// Replaces the response of each request for which the closure returns a reply.
    package func disturb(_ disturbance: (@Sendable (RecordedRequest) -> Reply?)?) {
        state.withLock { $0.disturbance = disturbance }
    }

    /// The same for the token server.
    package func disturbTokens(_ disturbance: (@Sendable (RecordedRequest) -> Reply?)?) {
        state.withLock { $0.tokenDisturbance = disturbance }
    }

    /// Stores a blob, and describes it as a layer.
    package func store(
        _ content: Content, type: String, name: String? = nil, key: String = "org.cncf.model.filepath"
    ) -> JSONValue {
        let digest = "sha256:" + SHA256Digest(hashing: content.bytes).hex
        state.withLock { $0.blobs[digest] = content }
        return Self.layer(digest, size: content.count, type: type, name: name, key: key)
    }

    /// A layer of a manifest.
    package static func layer(
        _ digest: String, size: UInt64, type: String, name: String? = nil, key: String = "org.cncf.model.filepath"
    ) -> JSONValue {
        var layer: JSONMembers = [
            "mediaType": .string(type), "digest": .string(digest), "size": .integer(size),
        ]
        if let name { layer["annotations"] = .object([key: .string(name)]) }
        return .object(layer)
    }

    /// Stores a manifest of layers under a tag.
    /// - Returns: its digest, `sha256:…`.
    @discardableResult
    package func publish(
        _ repository: String, tag: String, layers: [JSONValue], config: JSONValue? = nil, annotations: JSONValue? = nil
    ) -> String {
        let empty = store(.data(Data("{}".utf8)), type: "application/vnd.oci.empty.v1+json")
        var manifest: JSONMembers = [
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config ?? empty, "layers": .array(layers),
        ]
        manifest["annotations"] = annotations
        return publish(repository, tag: tag, Data(JSONValue.object(manifest).bytes))
    }

    /// Stores any bytes as a manifest.
    @discardableResult
    package func publish(_ repository: String, tag: String, _ manifest: Data) -> String {
        let digest = "sha256:" + SHA256Digest(hashing: manifest).hex
        state.withLock { state in
            state.manifests["\(repository)/\(tag)"] = manifest
            state.manifests["\(repository)/\(digest)"] = manifest
        }
        return digest
    }

    /// The manifest of a tag or digest.
    package func manifest(_ repository: String, _ name: String) -> Data? {
        state.withLock { $0.manifests["\(repository)/\(name)"] }
    }

    /// The bytes of a blob.
    package func blob(_ digest: String) -> Data? { state.withLock { $0.blobs[digest] }?.bytes }

    /// The names of manifests, `repository/tag` or `repository/digest`.
    package var manifestNames: [String] { state.withLock { $0.manifests.keys.sorted() } }

    private static func token(_ request: RecordedRequest, _ state: Locked<State>) -> Reply {
        let isKnown =
            request.headers["Authorization"] == "Basic " + Data(account.utf8).base64EncodedString()
            || String(decoding: request.body, as: UTF8.self).contains("refresh_token=\(refreshToken)")
        return state.withLock { state in
            if state.access == .accounts, !isKnown { return Reply(401) }
            return .text(#"{"token": "token-\#(state.token)"}"#)
        }
    }
}
