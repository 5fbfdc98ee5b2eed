import HearthBase
import HearthHTTP
import HearthInference

/// The upstreams of a process. Other settings replace those that they change; answers under way keep theirs.
package final class Upstreams: Sendable {
    /// An upstream for people.
    package struct Row: Sendable, Hashable {
        package let name: String
        package let kind: UpstreamKind
        /// The address without a user and a query.
        package let address: String
        /// The requests under way, and those that wait for a slot.
        package let running: Int
        package let waiting: Int
        /// The most requests at once; `nil` for any number.
        package let slots: Int?
        /// Whether the last requests failed.
        package let isFailing: Bool
        /// Why its models are not known; `nil` if they are, or if nothing asked for them yet.
        package let problem: String?
        /// The names under which its models are served.
        package let models: [String]
    }

    private struct State {
        var servers: [UpstreamServer] = []
        /// Made for the first upstream: it has a thread.
        var client: (any HTTPClient)?
    }

    private let state = Locked(State())
    private let makeClient: @Sendable () -> any HTTPClient
    private let time: TimeSource

    /// - Parameter client: makes the client of all requests.
    package init(client: @escaping @Sendable () -> any HTTPClient, time: TimeSource) {
        makeClient = client
        self.time = time
    }

    /// Uses other settings for later requests.
    package func use(_ settings: [UpstreamSettings]) {
        guard !settings.isEmpty else { return state.withLock { $0.servers = [] } }
        let client = state.withLock { $0.client } ?? makeClient()
        state.withLock { state in
            state.client = client
            state.servers = settings.map { wanted in
                state.servers.first { $0.settings == wanted } ?? UpstreamServer(wanted, client: client, time: time)
            }
        }
    }

    package var all: [UpstreamServer] { state.withLock { $0.servers } }

    /// The engine of a model by its served name, such as `vllm/qwen3-8b`; `nil` for another name.
    package func engine(_ name: String) async -> UpstreamEngine? {
        guard let slash = name.firstIndex(of: "/"), let server = server(String(name[..<slash])) else { return nil }
        return await server.engine(String(name[name.index(after: slash)...]))
    }

    /// The engine of a model by its served name.
    /// - Throws: ``LLMError`` with `remote-model-missing`, also for a request that has passed too many servers.
    package func required(_ name: String) async throws -> UpstreamEngine {
        guard UpstreamHops.count < UpstreamHops.maximum, let engine = await engine(name) else {
            throw LLMError(
                .remoteModelMissing, "no upstream serves \(name)",
                context: ErrorContext(model: name, remedy: "Correct the name, or the models of the upstream."))
        }
        return engine
    }

    /// Whether a name is that of a model of an upstream, as far as its first part tells.
    package func owns(_ name: String) -> Bool {
        name.firstIndex(of: "/").map { server(String(name[..<$0])) != nil } ?? false
    }

    private func server(_ name: String) -> UpstreamServer? { all.first { $0.name == name } }

    /// The models of all upstreams with their served names, in the order of the upstreams. All are asked at once.
    package func models() async -> [(server: UpstreamServer, model: UpstreamModel)] {
        let servers = all
        let lists = await withTaskGroup(of: (Int, [UpstreamModel]).self) { group in
            for (index, server) in servers.enumerated() { group.addTask { (index, await server.models()) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return servers.enumerated().flatMap { index, server in (lists[index] ?? []).map { (server, $0) } }
    }

    /// The upstreams for people.
    package func rows() async -> [Row] {
        let models = await models()
        return all.map { server in
            let (running, waiting) = server.load
            let own = models.filter { $0.server === server }.map { "\(server.name)/\($0.model.id)" }
            return Row(
                name: server.name, kind: server.settings.kind, address: server.settings.url.withoutQuery,
                running: running, waiting: waiting, slots: server.settings.slots, isFailing: server.isFailing,
                problem: server.problem?.errorDescription, models: own)
        }
    }
}
