import Foundation
import Hearth
import HearthBase
import HearthClassification
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthServer

/// Reading a page over the native API: on this device first, then in the cloud for what a person agreed to.
@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(5))) struct ClassifyCallTests {
    private struct Cloud: RemoteEngine, ForwardingEngine {
        let engine: ScriptedEngine
        let address = URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/")

        func checkHealth() async throws {}
    }

    private let folder: TemporaryFolder
    private let page: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        let page = QuadrantPage(columns: 2, rows: 3)
        self.page = try Picture(width: page.width, height: page.height, pixels: page.pixels).png()
        var model = ONNXBuilder()
        // This device is sure of nothing.
        model.metadata["classifier"] = ONNXBuilder.settings
            .replacing("\"width\"", with: "\"margin\": 0, \"width\"")
            .replacing("\"format\"", with: "\"thresholds\": {\"green\": 1, \"yellow\": 1}, \"format\"")
        let bytes = Data(model.bytes)
        try folder.write("origin/nom_1.0.0.onnx", bytes)
        try folder.write("origin/classes/v1.txt", Data("4E00\n4E8C\n4E09\n56DB\n".utf8))
        try folder.write(
            "origin/manifest.json",
            Data(
                #"""
                {"version": "1.0.0", "url": "nom_1.0.0.onnx", "sha256": "\#(SHA256Digest(hashing: bytes))",
                 "num_classes": 4, "class_list_version": "v1", "size_mb": 0.1}
                """#.utf8))
    }

    /// Runs a test's body with the page's API over a home with the classifier.
    private func with(
        _ engine: ScriptedEngine?, change: (inout Configuration) -> Void = { _ in },
        _ body: (NativeService) async throws -> Void
    ) async throws {
        var configuration = Configuration(origins: ["nom": folder.path("origin/manifest.json").url])
        (configuration.meteredUse, configuration.tier, configuration.credits) = (.allow, "starter", 10)
        change(&configuration)
        try folder.write("home/config.json", configuration.json())
        var surroundings = Surroundings()
        surroundings.environment = ["HEARTH_NETWORK": "unmetered"]
        surroundings.engines = EngineRegistry()
        surroundings.clouds = { _, _ in
            engine.map { CloudModel(engine: Cloud(engine: $0), name: "claude", hasOwnKey: false) }
        }
        let hearth = try Hearth(home: folder.path("home"), configuration: configuration, surroundings)
        _ = try await hearth.classifier("nom")
        let home = try ServedHome(hearth, version: "1")
        let service = try await NativeService(home)
        do {
            try await body(service)
        } catch {
            await service.close()
            await home.close()
            throw error
        }
        await service.close()
        await home.close()
    }

    private func read(_ service: NativeService, cloud: Int? = nil) async throws -> (status: Int, body: JSONValue) {
        let request = ServerRequest(
            method: "POST", target: "/hearth/v1/classify?decode=true" + (cloud.map { "&cloud=\($0)" } ?? ""),
            headers: ["Content-Type": "image/png"], caller: .owner, body: RequestBody(page))
        let reply = try #require(await service.reply(to: request))
        return (reply.status, try JSONValue(parsing: Data(try await reply.collectedBody())))
    }

    private func verdicts(_ body: JSONValue) -> Set<String> {
        Set(body["characters"]?.items.compactMap { $0["verdict"]?.text } ?? [])
    }

    @Test func decodeAllAsksTheCloudAfterItsOffer() async throws {
        let engine = ScriptedEngine(Array(repeating: [.text("國"), .finish(.endOfGeneration)], count: 6))
        try await with(engine) { service in
            let local = try await read(service).body
            #expect(verdicts(local) == ["unverified"])
            let offer = try #require(local["offer"])
            let requests = try #require(offer["requests"]?.int)
            #expect(offer["characters"]?.int == 6 && (1...6).contains(requests))
            #expect(offer["cloud"]?.text == "claude")
            #expect(offer["credits"]?["left"]?.int == 10 && offer["credits"]?["of"]?.int == 10)
            #expect(await engine.requests.isEmpty, "nothing is sent before a person agrees")

            let less = try await read(service, cloud: requests - 1).body
            #expect(verdicts(less) == ["unverified"] && less["offer"] == offer)
            #expect(await engine.requests.isEmpty, "no more than was agreed to")

            let decoded = try await read(service, cloud: requests).body
            #expect(verdicts(decoded) == ["verified"] && decoded["offer"] == nil)
            #expect(Set(decoded["characters"]?.items.compactMap { $0["text"]?.text } ?? []) == ["國"])
            #expect(await engine.requests.count == requests)
            #expect(service.now.cloud.premium.credits == 10 - requests)
        }
    }

    /// Where no picture may leave the device, there is no offer, and an agreement sends nothing.
    @Test(arguments: ["no cloud", "forceLocal", "no pictures", "free"])
    func nothingIsOfferedThatMayNotBeSent(_ rule: String) async throws {
        let engine = ScriptedEngine([[.text("國"), .finish(.endOfGeneration)]])
        try await with(rule == "no cloud" ? nil : engine) { settings in
            switch rule {
            case "forceLocal": settings.forceLocal = true
            case "no pictures": settings.cloud.shares = CloudShares("none") ?? .all
            case "free": settings.tier = "free"
            default: break
            }
        } _: { service in
            for cloud in [nil, 6] {
                let body = try await read(service, cloud: cloud).body
                #expect(verdicts(body) == ["unverified"] && body["offer"] == nil, "\(body)")
            }
            #expect(await engine.requests.isEmpty)
        }
    }

    @Test(arguments: ["-1", "501", "many"]) func agreementsAreBounded(_ text: String) async throws {
        try await with(nil) { service in
            let request = ServerRequest(
                method: "POST", target: "/hearth/v1/classify?decode=true&cloud=\(text)",
                headers: ["Content-Type": "image/png"], caller: .owner, body: RequestBody(page))
            let reply = try #require(await service.reply(to: request))
            #expect(reply.status == 422 || reply.status == 400)
        }
    }
}
