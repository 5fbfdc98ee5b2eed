import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthImport

/// Folders that become files.
@Suite struct ModelImportTests {
    /// Imports a model of a folder.
    private static func imported(_ folder: TemporaryFolder, _ model: Path) throws -> (Path, ImportReport) {
        let target = folder.path("model.gguf")
        let report = try ModelImport(folder: model).write(to: target, flag: StopFlag()) { _ in }
        return (target, report)
    }

    @Test(arguments: [nil, 2, 3, 4, 5, 6, 8]) func aFolderBecomesAFileWithAllTensors(_ bits: Int?) throws {
        let folder = try TemporaryFolder()
        var small = SmallModel()
        small.bits = bits
        let model = try small.write(to: folder)
        let plan = try ModelImport(folder: model)
        #expect(plan.kind == .mlx)
        #expect(plan.architecture == "llama")
        let (target, report) = try Self.imported(folder, model)
        let header = try GGUFHeader(file: target)
        #expect(header.tensors?.minimumFileSize == plan.expectedSize)
        #expect(report.fileSize == plan.expectedSize)
        #expect(report.tensorCount == 2 + 9 * SmallModel.layers)
        #expect(report.resumedBytes == 0)
        #expect(header.architecture == "llama")
        #expect(header.contextLength == 256)
        let quantization: [Int: String] = [2: "q4_1", 3: "q4_1", 4: "q4_1", 5: "q5_1", 6: "q8_0", 8: "q8_0"]
        #expect(header.quantization == bits.flatMap { quantization[$0] } ?? "f16")
        #expect(try LocalFileSystem().contents(of: folder.path) == ["model", "model.gguf"])
    }

    @Test func theSameFolderBecomesTheSameBytes() throws {
        var files: [Data] = []
        for pace in [ImportPace(slabBytes: 64, threads: 4), ImportPace(threads: 1)] {
            let folder = try TemporaryFolder()
            var small = SmallModel()
            small.bits = 4
            let model = try ModelImport(folder: try small.write(to: folder))
            let target = folder.path("x.gguf")
            _ = try model.file.write(to: target, flag: StopFlag(), pace: pace) { _ in }
            files.append(try LocalFileSystem().contents(ofFile: target, limit: 1 << 24))
        }
        #expect(files[0] == files[1])
    }

    @Test func floatsCanBecomeBlocksOfEightBits() throws {
        let folder = try TemporaryFolder()
        let model = try ModelImport(folder: try SmallModel().write(to: folder), target: .q8_0)
        #expect(model.settings != (try ModelImport(folder: folder.path("model"))).settings)
        let target = folder.path("x.gguf")
        _ = try model.write(to: target, flag: StopFlag()) { _ in }
        #expect(try GGUFHeader(file: target).quantization == "q8_0")
    }

    @Test func progressEndsAtOne() throws {
        let folder = try TemporaryFolder()
        let shares = Locked<[Double]>([])
        let model = try ModelImport(folder: try SmallModel().write(to: folder))
        _ = try model.write(to: folder.path("x.gguf"), flag: StopFlag()) { share in
            shares.withLock { $0.append(share) }
        }
        let all = shares.withLock { $0 }
        #expect(all.allSatisfy { (0...1).contains($0) })
        #expect(all.last == 1)
    }

    // MARK: - Bad input

    private static func error(_ body: () throws -> Void) -> ImportError? {
        do {
            try body()
            return nil
        } catch {
            return error as? ImportError
        }
    }

    /// Writes a model whose weights are changed, and returns the error of its import.
    private static func error(
        bits: Int? = nil, _ change: (inout SafetensorsBuilder) -> Void
    ) throws -> ImportError? {
        let folder = try TemporaryFolder()
        var small = SmallModel()
        small.bits = bits
        var weights = small.weights
        change(&weights)
        let model = try small.write(to: folder, weights: weights)
        let error = Self.error { _ = try imported(folder, model) }
        let names = try LocalFileSystem().contents(of: folder.path)
        #expect(!names.contains("model.gguf"), "an artifact of bad weights")
        return error
    }

    @Test func aMissingTensorIsNamed() throws {
        let error = try Self.error { $0.tensors.removeAll { $0.name == "model.layers.1.mlp.up_proj.weight" } }
        #expect(error?.code == .damaged)
        #expect(error?.context.field == "model.layers.1.mlp.up_proj.weight")
    }

    @Test func aTensorOfAnotherPartIsNamed() throws {
        let error = try Self.error { $0.add("model.layers.0.mlp.experts.0.weight", [1], [1]) }
        #expect(error?.code == .incompatible)
        #expect(error?.context.field == "model.layers.0.mlp.experts.0.weight")
    }

    @Test(arguments: ["I32", "F64", "F8_E4M3"]) func otherNumbersAreRefused(_ type: String) throws {
        let error = try Self.error { builder in
            let index = builder.tensors.firstIndex { $0.name == "model.norm.weight" } ?? 0
            builder.tensors[index].type = type
            builder.tensors[index].bytes = Data(count: type == "I32" ? 256 : type == "F64" ? 512 : 64)
        }
        #expect(error?.code == .incompatible)
        #expect(error?.context.found == type)
    }

    @Test(arguments: ["weight", "scales", "biases"]) func anotherShapeIsDamaged(_ part: String) throws {
        let error = try Self.error(bits: 4) { builder in
            let index = builder.tensors.firstIndex { $0.name == "model.layers.0.mlp.down_proj.\(part)" } ?? 0
            builder.tensors[index].shape = [builder.tensors[index].shape[1], builder.tensors[index].shape[0]]
        }
        #expect(error?.code == .damaged || error?.code == .incompatible)
        #expect(error?.context.field?.hasPrefix("model.layers.0.mlp.down_proj.") == true)
    }

    @Test(arguments: [Float.nan, .infinity]) func scalesThatAreNoNumbersAreDamaged(_ number: Float) throws {
        let error = try Self.error(bits: 4) { builder in
            let index = builder.tensors.firstIndex { $0.name == "model.layers.1.self_attn.q_proj.scales" } ?? 0
            builder.tensors[index].bytes.replaceSubrange(
                10..<12, with: withUnsafeBytes(of: Float16(number)) { Data($0) })
        }
        #expect(error?.code == .damaged)
        #expect(error?.context.field == "model.layers.1.self_attn.q_proj.weight")
    }

    @Test func groupsWithoutADeclarationAreDamaged() throws {
        let folder = try TemporaryFolder()
        var small = SmallModel()
        small.bits = 4
        let weights = small.weights
        small.bits = nil
        let model = try small.write(to: folder, weights: weights)
        #expect(Self.error { _ = try ModelImport(folder: model) }?.code == .damaged)
    }

    @Test func groupsThatDoNotDivideTheRowsAreDamaged() throws {
        let folder = try TemporaryFolder()
        var small = SmallModel()
        small.bits = 4
        let weights = small.weights
        small.bits = nil
        small.configuration["quantization"] = [
            "group_size": 32, "bits": 4, "model.layers.0.mlp.down_proj": ["group_size": 64, "bits": 4],
        ]
        let model = try small.write(to: folder, weights: weights)
        #expect(Self.error { _ = try ModelImport(folder: model) }?.code == .damaged)
    }

    @Test(arguments: ["config.json", "tokenizer.json", "model.safetensors"])
    func aMissingFileIsNamed(_ name: String) throws {
        let folder = try TemporaryFolder()
        let model = try SmallModel().write(to: folder)
        try LocalFileSystem().removeFile(folder.path("model/\(name)"))
        let error = Self.error { _ = try ModelImport(folder: model) }
        #expect(error?.code == .missingFile)
        #expect(error?.context.file == name)
    }

    @Test(arguments: ["config.json", "tokenizer.json", "model.safetensors"])
    func linksAndFoldersAreRefused(_ name: String) throws {
        for makesFolder in [true, false] {
            let folder = try TemporaryFolder()
            let model = try SmallModel().write(to: folder)
            let disk = LocalFileSystem()
            try disk.rename(folder.path("model/\(name)"), to: folder.path("elsewhere"))
            if makesFolder {
                try disk.makeFolders(folder.path("model/\(name)"))
            } else {
                try disk.makeLink(at: folder.path("model/\(name)"), to: "../elsewhere")
            }
            let error = Self.error { _ = try ModelImport(folder: model) }
            #expect(error?.code == .linkedFile)
            #expect(error?.context.file == name)
        }
    }

    @Test func aTensorInTwoShardsIsDamaged() throws {
        let folder = try TemporaryFolder()
        let small = SmallModel()
        let model = try small.write(to: folder)
        let disk = LocalFileSystem()
        try disk.rename(
            folder.path("model/model.safetensors"), to: folder.path("model/model-00001-of-00002.safetensors"))
        var second = SafetensorsBuilder()
        second.tensors = [small.weights.tensors[3]]
        try folder.write("model/model-00002-of-00002.safetensors", second.data)
        let error = Self.error { _ = try ModelImport(folder: model) }
        #expect(error?.code == .damaged)
        #expect(error?.context.field == small.weights.tensors[3].name)
    }

    @Test func anIndexThatPromisesAnotherPlaceIsDamaged() throws {
        let folder = try TemporaryFolder()
        let model = try SmallModel().write(to: folder)
        for name in ["model.norm.weight", "model.nothing.weight"] {
            var other = SafetensorsBuilder()
            other.add("x", [1], [1])
            try folder.write("model/other.safetensors", other.data)
            let index: JSONValue = [
                "weight_map": ["model.embed_tokens.weight": "model.safetensors", name: "other.safetensors"]
            ]
            try folder.write("model/model.safetensors.index.json", Data(index.line.utf8))
            let error = Self.error { _ = try ModelImport(folder: model) }
            #expect(error?.code == .damaged)
            #expect(error?.context.field == name)
        }
    }

    @Test func filesThatDoNotBelongToTheReleaseAreNotRead() throws {
        let folder = try TemporaryFolder()
        let model = try SmallModel().write(to: folder)
        try folder.write("model/model.safetensors.index.json", Data("broken".utf8))
        let names = ["config.json", "tokenizer.json", "model.safetensors"]
        #expect(try ModelImport(folder: model, files: names).architecture == "llama")
        #expect(Self.error { _ = try ModelImport(folder: model) }?.code == .damaged)
    }
}
