import Foundation
import HearthBase
import HearthHTTP

/// A Hugging Face Hub inside the test process, with a second server as its storage. It is complete enough that the
/// Hub's own Python client downloads from it.
///
/// ```swift
/// let hub = try TestHub()
/// let commit = hub.publish("org/model", ["config.json": .small(text), "model.safetensors": .large(content)])
/// let settings = try HubSettings(endpoint: hub.endpoint)
/// ```
/// Like the real hub: revisions resolve to commits; a tree has pages with `Link`; large files redirect to another host,
/// which refuses a client that sends it a token; a repository that is missing, or private without its token, gives 401;
/// a gated one shows its facts and refuses its files; a renamed one redirects with 307.
package final class TestHub: Sendable {
    /// The bytes of a file, and how the repository stores them.
    package struct File: Sendable {
        package let content: Content
        /// Whether git holds only a pointer with the SHA-256.
        package let isLarge: Bool

        /// A file stored in git itself.
        package static func small(_ text: String) -> File { File(content: .data(Data(text.utf8)), isLarge: false) }
        /// A file stored in git itself.
        package static func small(_ data: Data) -> File { File(content: .data(data), isLarge: false) }
        /// A file in the large file storage.
        package static func large(_ content: Content) -> File { File(content: content, isLarge: true) }
    }

    /// The clients that may see a repository.
    package enum Access: Sendable, Hashable {
        case everybody
        /// Only clients with the token see it; for others the repository does not exist.
        case tokenHolders
        /// Every client sees the facts; clients with the token get the files.
        case gated
    }

    struct Repository: Sendable {
        var access = Access.everybody
        /// A branch or tag, and its commit.
        var revisions: [String: String] = [:]
        var commits: [String: [String: File]] = [:]
        /// The facts that a search tells: downloads, and the parameters of its GGUF files.
        var downloads = 1
        var parameters: UInt64?
    }

    struct State: Sendable {
        var repositories: [String: Repository] = [:]
        var renamed: [String: String] = [:]
        var stored: [String: Content] = [:]
        var pageSize = 1000
        var disturbance: (@Sendable (RecordedRequest) -> Reply?)?
    }

    /// The token for private and gated repositories.
    package let token: String
    /// The server of facts and small files.
    package let server: FaultServer
    /// The server of large files.
    package let storage: FaultServer
    private let state: Locked<State>

    /// Makes a hub without repositories.
    package init(token: String = "hf_TestTokenThatNobodyElseMaySee") throws {
        self.token = token
        let state = Locked(State())
        self.state = state
        let storage = try FaultServer { request in HubAnswers.storage(request, state.withLock { $0 }) }
        self.storage = storage
        let port = storage.port
        server = try FaultServer { request in
            let state = state.withLock { $0 }
            if let reply = state.disturbance?(request) { return reply }
            return HubAnswers(state: state, token: token, storagePort: port).answer(request)
        }
    }

    /// The hub's address, for `HF_ENDPOINT`.
    package var endpoint: String { "http://127.0.0.1:\(server.port)" }

    /// Makes a commit of these files, and moves a branch to it.
    /// - Returns: the commit.
    @discardableResult
    package func publish(
        _ repository: String, _ files: [String: File], revision: String = "main", access: Access = .everybody
    ) -> String {
        var names = ""
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            names += "\(name) \(SHA256Digest(hashing: file.content.bytes))\n"
        }
        let commit = String(SHA256Digest(hashing: Array((repository + names).utf8)).hex.prefix(40))
        state.withLock { state in
            for file in files.values where file.isLarge {
                state.stored[SHA256Digest(hashing: file.content.bytes).hex] = file.content
            }
            state.repositories[repository, default: Repository()].access = access
            state.repositories[repository]?.revisions[revision] = commit
            state.repositories[repository]?.commits[commit] = files
        }
        return commit
    }

    /// Sets what a search tells about a repository.
    package func rate(_ repository: String, downloads: Int, parameters: UInt64? = nil) {
        state.withLock { state in
            state.repositories[repository]?.downloads = downloads
            state.repositories[repository]?.parameters = parameters
        }
    }

    /// Renames a repository; the old name redirects to the new one.
    package func rename(_ repository: String, to name: String) {
        state.withLock { state in
            state.repositories[name] = state.repositories.removeValue(forKey: repository)
            state.renamed[repository] = name
        }
    }

    /// Sets the number of files on one page of a tree.
    package func page(by size: Int) { state.withLock { $0.pageSize = size } }

    /// Replaces the response of each request for which the closure returns a reply.
    package func disturb(_ disturbance: (@Sendable (RecordedRequest) -> Reply?)?) {
        state.withLock { $0.disturbance = disturbance }
    }

    /// All requests to both servers.
    package var requests: [RecordedRequest] { server.requests + storage.requests }
}
