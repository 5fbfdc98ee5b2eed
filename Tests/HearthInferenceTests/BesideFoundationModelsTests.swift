import HearthInference
import HearthTestSupport
import LookalikeModels
import Testing

import struct HearthInference.GenerationOptions
import protocol HearthInference.Tool

/// The promises of the article `BesideFoundationModels`, beside a module that declares the same names.
@Suite struct BesideFoundationModelsTests {
    @Test func aModuleSaysWhichIsMeant() async throws {
        let engine: any InferenceEngine = ScriptedEngine([[.text("ok"), .finish(.endOfGeneration)]])
        let session = HearthInference.LanguageModelSession(model: engine)
        _ = LookalikeModels.LanguageModelSession()
        #expect(try await session.respond(to: "a").content == "ok")
    }

    private struct Nothing: Tool {
        struct Arguments: Codable {}
        let name = "nothing"
        let description = ""
        func call(_ arguments: Arguments) -> String { "" }
    }

    @Test func orAnImportOfASingleDeclarationDoes() {
        #expect(GenerationOptions().maximumNewTokens == 768)
        #expect(Nothing().call(.init()).isEmpty)
    }
}
