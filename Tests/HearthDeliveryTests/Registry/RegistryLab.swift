import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A registry, a home, and a manager with the log-ins of a folder.
struct RegistryLab {
    static let http = DefaultHTTPClient()
    static let gguf = "application/vnd.docker.ai.gguf.v3"
    static let raw = "application/vnd.cncf.model.weight.v1.raw"

    let folder: TemporaryFolder
    let registry: TestRegistry
    let clock = HurriedClock()

    init() throws {
        folder = try TemporaryFolder()
        registry = try TestRegistry()
    }

    /// A manager of the home, with the log-ins that were kept by ``logIn(_:)``.
    func manager(home: String = "home", http: any HTTPClient = RegistryLab.http) -> ModelManager {
        ModelManager(
            home: folder.path(home), origins: [], http: http, time: clock.time, network: UnmonitoredNetwork(),
            deviceMemory: 8 << 30,
            registries: RegistryCredentials(environment: ["DOCKER_CONFIG": folder.path("docker").string]))
    }

    /// Keeps the entry of the registry in `auths`.
    func logIn(_ entry: String) throws {
        let text = #"{"auths": {"\#(registry.host)": \#(entry)}}"#
        try folder.write("docker/config.json", Data(text.utf8))
    }

    func logIn(account: String = TestRegistry.account) throws {
        try logIn(#"{"auth": "\#(Data(account.utf8).base64EncodedString())"}"#)
    }

    func reference(_ name: String) throws -> ModelReference {
        try ModelReference(parsing: "oci://\(registry.host)/\(name)")
    }

    /// Pulls with a manager of its own.
    @discardableResult
    func pull(_ name: String, home: String = "home") async throws -> InstalledRelease {
        try await manager(home: home).pull(try reference(name)).release
    }

    /// Publishes one GGUF file.
    @discardableResult
    func publish(_ content: Content = .pattern(count: 50_000), tag: String = "1") -> String {
        registry.publish("ai/m", tag: tag, layers: [registry.store(content, type: Self.gguf, name: "m.gguf")])
    }

    /// The code of the failure of a pull.
    func code(_ name: String) async -> String? { await HubLab.code { try await pull(name) } }

    /// The bytes of an installed file.
    func bytes(_ release: InstalledRelease, _ name: String) throws -> Data {
        try Data(contentsOf: release.folder.appending(try #require(RelativePath(name))).url)
    }
}
