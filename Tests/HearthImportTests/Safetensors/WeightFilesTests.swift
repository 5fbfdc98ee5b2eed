import Foundation
import HearthBase
import Testing

@testable import HearthImport

/// The choice of the files that hold weights.
@Suite struct WeightFilesTests {
    private static func index(_ map: [String: String]) -> Data {
        let pairs = map.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }
        return Data("{\"metadata\":{},\"weight_map\":{\(pairs.joined(separator: ","))}}".utf8)
    }

    @Test(arguments: [
        (["config.json", "model.safetensors", "consolidated.safetensors"], ["model.safetensors"]),
        (["weights.00.safetensors", "weights.01.safetensors"], ["weights.00.safetensors", "weights.01.safetensors"]),
        (
            ["model-00002-of-00002.safetensors", "model-00001-of-00002.safetensors", "adapters.safetensors"],
            ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
        ),
    ]) func theModelsOwnFilesAreChosen(_ files: [String], _ chosen: [String]) throws {
        #expect(try WeightFiles(files: files, index: nil).names.map(\.name) == chosen)
    }

    @Test func anIndexNamesTheShards() throws {
        let index = Self.index(["a": "model-b.safetensors", "c": "model-a.safetensors", "d": "model-b.safetensors"])
        let files = try WeightFiles(
            files: ["model-a.safetensors", "model-b.safetensors", "model.safetensors"], index: index)
        #expect(files.names.map(\.name) == ["model-a.safetensors", "model-b.safetensors"])
        #expect(files.places?["a"]?.name == "model-b.safetensors")
    }

    @Test func aMissingShardIsNamed() {
        for error in [
            #expect(throws: ImportError.self) {
                try WeightFiles(
                    files: ["model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors"], index: nil)
            },
            #expect(throws: ImportError.self) {
                try WeightFiles(files: ["x"], index: Self.index(["a": "model-00002-of-00003.safetensors"]))
            },
        ] {
            #expect(error?.code == .missingFile)
            #expect(error?.context.file == "model-00002-of-00003.safetensors")
        }
    }

    @Test(arguments: [
        ("pytorch_model.bin", "PyTorch"), ("consolidated.00.pth", "PyTorch"), ("weights.npz", "NumPy"),
    ]) func otherFormsAreNamed(_ file: String, _ form: String) {
        let error = #expect(throws: ImportError.self) {
            try WeightFiles(files: ["config.json", file], index: nil)
        }
        #expect(error?.code == .incompatible)
        #expect(error?.context.found == form)
    }

    @Test func noWeightsAreMissing() {
        let error = #expect(throws: ImportError.self) { try WeightFiles(files: ["config.json"], index: nil) }
        #expect(error?.code == .missingFile)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"weight_map":{}}"#, #"{"weight_map":{"a":1}}"#, #"{"weight_map":{"a":"../x.safetensors"}}"#,
        #"{"weight_map":{"a":"/etc/passwd"}}"#, #"{"weight_map":{"a":"x.bin"}}"#,
        #"{"weight_map":{"a":"a/b.safetensors"}}"#,
        #"{"weight_map":{"a":"b.safetensors","a":"c.safetensors"}}"#,
    ]) func anIndexThatIsNoneIsDamaged(_ text: String) {
        let error = #expect(throws: ImportError.self) {
            try WeightFiles(files: ["model.safetensors"], index: Data(text.utf8))
        }
        #expect(error?.code == .damaged)
    }
}
