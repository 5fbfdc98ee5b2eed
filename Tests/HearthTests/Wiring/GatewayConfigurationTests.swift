import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

/// The settings of the gateway that gives out addresses.
struct GatewayConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func provider(
        _ settings: [String: String], origins: [String] = ["https://models.example/list/models.json"],
        environment: [String: String] = [:]
    ) throws -> (any DownloadURLProvider)? {
        var configuration = Configuration()
        for (key, value) in settings { try configuration.set(key, to: value) }
        return try configuration.gateway.provider(
            origins: origins.compactMap { URL(string: $0) }, environment: environment, http: CurlHTTPClient(),
            time: .system)
    }

    @Test func theFilesBesideTheOriginsNeedAnAddress() throws {
        #expect(try provider([:]) == nil)
        #expect(try provider(["gateway.url": "https://g.example"], origins: ["file:///m/models.json"]) == nil)
        let beside = try required(try provider(["gateway.url": "https://g.example"]))
        let named = try required(
            try provider([
                "gateway.url": "https://g.example", "gateway.files": "https://a.example/x, https://b.example",
            ]))
        let table = [
            ("https://models.example/list/x.gguf", true, false), ("https://models.example/x.gguf", false, false),
            ("https://a.example/x/y", false, true), ("https://b.example/z", false, true),
            ("https://huggingface.co/x", false, false),
        ]
        for (text, first, second) in table {
            let url = try required(URL(string: text))
            #expect(beside.provides(for: url) == first && named.provides(for: url) == second, "\(text)")
        }
    }

    @Test func theKeyComesFromTheEnvironmentOrAFile() async throws {
        let server = try FaultServer { _ in Reply(body: .data(Data(#"{"url":"https://s3.example/x"}"#.utf8))) }
        let url = try server.url("").absoluteString
        let location = try required(URL(string: "https://models.example/list/x.gguf"))
        let file = try folder.write("key", Data("from-file\n".utf8))
        let settings = ["gateway.url": url, "gateway.keyFile": file.string, "gateway.header": "X-Key"]
        let open = try required(try provider(settings))
        await #expect(throws: (any Error).self) { try await open.downloadURL(for: location) }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.string)
        _ = try await open.downloadURL(for: location)
        let variable = try required(try provider(settings, environment: ["HEARTH_GATEWAY_KEY": "from-variable"]))
        _ = try await variable.downloadURL(for: location)
        #expect(server.requests.map { $0.headers["X-Key"] } == ["from-file", "from-variable"])
        let none = try required(try provider(["gateway.url": url]))
        let error = await #expect(throws: ConfigurationError.self) { try await none.downloadURL(for: location) }
        #expect(error?.code == .notSet && error?.context.field == "gateway.keyFile")
    }

    @Test func settingsAreKeptAndChecked() throws {
        var configuration = Configuration()
        try configuration.set("gateway.url", to: "https://g.example/api")
        try configuration.set("gateway.keyFile", to: "/k")
        try configuration.set("gateway.header", to: "X-API-Key")
        try configuration.set("gateway.files", to: "https://a.example/x,https://b.example")
        let again = try Configuration(json: configuration.json())
        #expect(again == configuration)
        #expect(try again.value(of: "gateway.files") == "https://a.example/x,https://b.example")
        // The key of one gateway is not sent to another.
        try configuration.set("gateway.url", to: "https://other.example")
        #expect(try configuration.value(of: "gateway.keyFile") == nil)
        let wrong = [
            ("gateway.url", "http://g.example"), ("gateway.url", "https://u@g.example"), ("gateway.url", "g"),
            ("gateway.url", "https://g.example?x"), ("gateway.header", "Host"), ("gateway.header", "a b"),
            ("gateway.keyFile", "key"), ("gateway.files", ""), ("gateway.files", "ftp://a"), ("gateway.other", "x"),
        ]
        for (key, value) in wrong {
            #expect(throws: ConfigurationError.self, "\(key) \(value)") { try configuration.set(key, to: value) }
        }
    }
}
