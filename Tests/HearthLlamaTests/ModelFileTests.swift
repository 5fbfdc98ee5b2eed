#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

@Suite struct ModelFileTests {
    private typealias Entries = [(key: String, value: GGUFValue)]

    private func refusal(_ entries: Entries, as use: ModelFile.Use?) throws -> LLMError? {
        let folder = try TemporaryFolder()
        let path = try folder.write("file.gguf", GGUFBuilder(entries: entries).header())
        do {
            try ModelFile.check(path, as: use)
            return nil
        } catch let error as LLMError {
            #expect(error.code == .cannotLoad && error.context.remedy != nil)
            #expect(error.context.file == path.string)
            return error
        }
    }

    private static let text: Entries = [("general.architecture", .string("llama"))]

    @Test func aModelIsNoProjectorAndNoAdapter() throws {
        let projector: Entries = [("general.architecture", .string("clip"))]
        let adapter = Self.text + [("general.type", .string("adapter"))]
        #expect(try refusal(Self.text, as: .model) == nil)
        #expect(try refusal(Self.text + [("general.type", .string("model"))], as: .model) == nil)
        #expect(try refusal(projector, as: .model)?.message.contains("projector") == true)
        #expect(try refusal(adapter, as: .model)?.message.contains("adapter") == true)
        #expect(try refusal([], as: .model)?.message.contains("architecture") == true)
        let matrix = Self.text + [("general.type", .string("imatrix"))]
        #expect(try refusal(matrix, as: .model)?.context.found == "imatrix")
        let vector: Entries = [("general.architecture", .string("controlvector"))]
        #expect(try refusal(vector, as: .model)?.context.found == "controlvector")
        for entries in [Self.text, projector, adapter, []] { #expect(try refusal(entries, as: nil) == nil) }
    }

    /// llama.cpp reads this key of a projector, and ends the process if its value is not a boolean.
    @Test func aProjectorMustDeclareVision() throws {
        func refusal(_ architecture: String, _ value: GGUFValue?) throws -> LLMError? {
            var entries: Entries = [("general.architecture", .string(architecture))]
            if let value { entries.append(("clip.has_vision_encoder", value)) }
            return try self.refusal(entries, as: .projector)
        }
        #expect(try refusal("clip", .bool(true)) == nil)
        #expect(try refusal("another", .bool(true)) == nil)
        for value in [nil, .bool(false), .uint32(1)] as [GGUFValue?] {
            let error = try refusal("clip", value)
            #expect(error?.message.contains("no projector") == true)
        }
    }

    @Test func theProjectorsOfTheTestsAreAccepted() throws {
        for tiny in [TestModel.Tiny.projector, .twoWayProjector, .gridProjector] {
            try ModelFile.check(TestModel.path(tiny), as: .projector)
        }
        try ModelFile.check(TestModel.path, as: .model)
    }
}
#endif
