import HearthBase
import HearthCatalog
import HearthInference
import HearthTestSupport
import Testing

@testable import Hearth

/// A format may have several engines, and the last registered that runs here is used.
@Suite struct EngineRegistryTests {
    private static func engine(_ name: String) -> ScriptedEngine {
        ScriptedEngine([], information: ModelInformation(description: name, contextLength: 1))
    }

    private static func opened(_ engines: EngineRegistry, _ configuration: Configuration) async throws -> String {
        let request = EngineRegistry.Request(
            files: ReleaseFiles(weights: Path("/weights"), format: .mlx), configuration: configuration, deviceMemory: 1)
        return try await engines.open(request).modelInformation.description
    }

    @Test func theLastThatRunsIsUsed() async throws {
        var engines = EngineRegistry()
        engines.register(.mlx, named: "plain") { _ in Self.engine("plain") }
        engines.register(.mlx, named: "native", runs: { $0.mlx == .native }) { _ in Self.engine("native") }
        var configuration = Configuration()
        #expect(try await Self.opened(engines, configuration) == "plain")
        #expect(engines.engine(for: .mlx, configuration) == "plain")
        configuration.mlx = .native
        #expect(try await Self.opened(engines, configuration) == "native")
        engines.register(.mlx, named: "native", runs: { _ in false }) { _ in Self.engine("never") }
        #expect(try await Self.opened(engines, configuration) == "plain")
        #expect(engines.formats == [.mlx])
    }

    @Test func withoutOneTheFormatIsNamed() async {
        var engines = EngineRegistry()
        engines.register(.mlx, named: "native", runs: { _ in false }) { _ in Self.engine("never") }
        let error = await #expect(throws: LLMError.self) { try await Self.opened(engines, Configuration()) }
        #expect(error?.code == .engineMissing && error?.context.found == "mlx")
        #expect(engines.engine(for: .onnx, Configuration()) == nil)
    }
}
