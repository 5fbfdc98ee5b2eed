import Foundation
import HearthBase
import HearthHTTP
import HearthRouting
import HearthServer

extension Option where Value == String? {
    /// The option of the commands that use a gateway's records.
    static var gatewayDatabase: Self {
        Option(
            "database", "URL", .word, default: "a SQLite file in the home",
            "postgresql://user@host/name: the records of many gateways. HEARTH_GATEWAY_DATABASE names it too.")
    }
}

extension ValueKind where Value == URL {
    /// An address to which a secret may be sent.
    static var serverAddress: Self {
        ValueKind("an https address, or http to this machine, without a user and a query") { text in
            guard let url = URL(address: text), let host = url.host(), !host.isEmpty, url.user() == nil,
                url.query() == nil, url.fragment() == nil,
                url.scheme == "https" || (url.scheme == "http" && url.isLoopback)
            else { return nil }
            return url
        }
    }
}

extension CommandContext {
    /// The folder of a gateway's records and its audit log.
    var gatewayFolder: Path { get throws { try home.appending("gateway") } }

    /// Opens the records of the gateway.
    func openGateway(_ database: String?) async throws -> GatewayStore {
        let variable = environment["HEARTH_GATEWAY_DATABASE"].flatMap { $0.isEmpty ? nil : $0 }
        let folder = try gatewayFolder
        try await blocking { try LocalFileSystem().makeFolders(folder, permissions: 0o700) }
        return try await GatewayStore.open(database ?? variable, file: folder.appending("gateway.db"), time: time)
    }

    /// Opens the records for one step.
    func withGateway<Result: Sendable>(
        _ database: String?, _ body: @Sendable (GatewayStore) async throws -> Result
    ) async throws -> Result {
        let store = try await openGateway(database)
        return try await withEnding({ await store.close() }) { try await body(store) }
    }
}
