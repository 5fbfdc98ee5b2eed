#if MLX
import Foundation
import HearthBase
import HearthImport
import HearthInference
@testable import HearthMLX
import HearthTestSupport
import Testing

extension MLXModel {
    /// Folders that contradict themselves.
    @Suite(.serialized) struct Folders {
        /// The code of the error with which a folder is refused; `nil` if it is loaded.
        private func refusal(of folder: TinyFolder) async -> String? {
            do {
                let engine = try await MLXEngine.load(folder)
                await engine.unload()
                return nil
            } catch let error as LLMError {
                return error.code.rawValue
            } catch let error as ImportError {
                return error.code.rawValue
            } catch {
                return "\(error)"
            }
        }

        @Test(arguments: [
            ("model_type", #""mllama""#, "incompatible"), ("model_type", #""phi3""#, "damaged"),
            ("num_attention_heads", "3", "damaged"), ("num_hidden_layers", "3", "damaged"),
            ("hidden_size", "1099511627776", "damaged"), ("vocab_size", "-1", "damaged"),
            ("vocab_size", "64", "damaged"), ("vocab_size", "1.5", "damaged"),
            ("quantization", #"{"group_size": 48, "bits": 4}"#, "incompatible"),
            ("quantization", "null", "damaged"), ("quantization", "[4]", "damaged"),
            ("quantization", #"{"group_size": 32, "bits": 4, "mode": "nvfp4"}"#, "incompatible"),
            (
                "rope_scaling", #"{"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 1024}"#,
                "cannot-load-model"
            ),
            ("rope_scaling", #"{"rope_type": "spiral"}"#, "incompatible"),
            ("hidden_act", #""relu""#, "incompatible"),
        ])
        func withOtherConfigurationsAreRefused(key: String, value: String, code: String) async throws {
            #expect(await refusal(of: try TinyFolder(changes: [key: value])) == code)
        }

        @Test(arguments: [
            "model.norm.weight", "model.layers.1.mlp.up_proj.scales", "model.layers.0.self_attn.k_proj.weight",
        ])
        func withoutATensorAreRefused(name: String) async throws {
            #expect(await refusal(of: try TinyFolder { $0.removeAll { $0.name == name } }) == "damaged")
        }

        @Test func withNumbersThatAreNoneAnswerWithAnError() async throws {
            let engine = try await MLXEngine.load(
                TinyFolder { tensors in
                    for index in tensors.indices where tensors[index].name.hasSuffix("1.mlp.up_proj.scales") {
                        let tensor = tensors[index]
                        tensors[index] = TinyFolder.Tensor(
                            name: tensor.name, shape: tensor.shape, tensor.numbers.map { _ in .nan })
                    }
                })
            let error = await #expect(throws: LLMError.self) { try await engine.tokens(after: [1, 2, 3]) }
            #expect(error?.code == .notFinite)
            await engine.unload()
            #expect(MLXEngine.memoryInUse == (0, 0))
        }

        @Test func withMissingOrLinkedShardsAreRefused() async throws {
            let folder = try TinyFolder(shards: 3)
            #expect(await refusal(of: folder) == nil)
            let name = "model-00002-of-00003.safetensors"
            let (shard, moved) = (folder.folder.path(name), folder.folder.path("other"))
            try LocalFileSystem().rename(shard, to: moved)
            #expect(await refusal(of: folder) == "missing-file")
            try FileManager.default.createSymbolicLink(atPath: shard.string, withDestinationPath: moved.string)
            #expect(await refusal(of: folder) == "linked-file")
        }

        /// Files cut off, lengthened, or with changed bytes: each is refused with a code, or answers.
        @Test func withFiveHundredBrokenFilesNeverEndTheProcess() async throws {
            var generator = SeededGenerator(seed: 11)
            let whole = try TinyFolder(layers: 1, hidden: 32, changes: ["head_dim": "8", "intermediate_size": "64"]) {
                $0 = WeightMaker(bits: 4, group: 32).small
            }
            let names = ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"]
            let files = try names.map { ($0, try whole.read($0)) }
            var refused = 0
            for round in 0..<500 {
                let (name, bytes) = files[round % 5 < 2 ? 0 : round % names.count]
                var broken = bytes
                switch round % 4 {
                case 0: broken = bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator))
                case 1: broken.append(contentsOf: (0..<40).map { UInt8(truncatingIfNeeded: $0) })
                default:
                    // Mostly in the header, where bytes mean something.
                    for _ in 0...round % 6 {
                        let reach = Int.random(
                            in: 1...min(bytes.count, round % 3 == 0 ? bytes.count : 4000), using: &generator)
                        broken[Int.random(in: 0..<reach, using: &generator)] = UInt8.random(
                            in: 0...255, using: &generator)
                    }
                }
                try whole.write(name, broken)
                do {
                    let engine = try await MLXEngine.load(whole, threads: 1)
                    _ = try? await engine.tokens(after: [1, 2, 3], count: 2)
                    await engine.unload()
                } catch is LLMError {
                    refused += 1
                } catch is ImportError {
                    refused += 1
                } catch {
                    Issue.record("round \(round), \(name): \(error)")
                }
                try whole.write(name, bytes)
            }
            #expect(refused > 100)
            #expect(await refusal(of: whole) == nil)
            #expect(MLXEngine.memoryInUse == (0, 0))
        }

        @Test func withAFileThatShrinksAfterItsCheckAreRefused() async throws {
            let folder = try TinyFolder()
            let library = try MLXLibrary.load()
            let model = try NativeModel(folder: folder.path)
            let decoder = try MLXDecoder(model)
            let plan = MLXPlan(model: model, decoder: decoder, window: 64, threads: 1)
            let bytes = try folder.read("model.safetensors")
            try folder.write("model.safetensors", bytes.prefix(bytes.count / 2))
            let error = #expect(throws: LLMError.self) {
                try MLXComputer(library, plan, description: "tiny") { _ in true }
            }
            #expect(error?.code == .cannotLoad)
            try folder.write("model.safetensors", bytes)
            #expect(throws: CancellationError.self) {
                try MLXComputer(library, plan, description: "tiny") { $0 < 0.5 }
            }
            #expect(MLXEngine.memoryInUse == (0, 0))
        }
    }

    /// Requests that no template made.
    @Suite(.serialized) struct Requests {
        @Test func outsideTheVocabularyAreRefused() async throws {
            let engine = try await MLXEngine.load(TinyFolder())
            for number in [-1, TokenID(TinyFolder.vocabulary), .max, .min] {
                let error = await #expect(throws: LLMError.self) { try await engine.tokens(after: [1, number]) }
                #expect(error?.code == .generateFailed)
            }
            #expect(try await engine.tokens(after: [1, 2]).count > 0)
            await engine.unload()
        }

        /// The library checks numbers and room itself, too.
        @Test func outsideTheVocabularyAreRefusedByTheLibrary() throws {
            let folder = try TinyFolder()
            let model = try NativeModel(folder: folder.path)
            let plan = MLXPlan(model: model, decoder: try MLXDecoder(model), window: 16, threads: 1)
            let computer = try MLXComputer(MLXLibrary.load(), plan, description: "tiny") { _ in true }
            var logits = [Float](repeating: 0, count: computer.vocabularySize)
            for tokens in [
                [-1], [TokenID(TinyFolder.vocabulary)], [TokenID.max], [TokenID](repeating: 1, count: 17), [],
            ] {
                #expect(throws: LLMError.self) {
                    try computer.compute(tokens[...], logits: &logits) { false }
                }
            }
            #expect(try computer.compute([1, 2], logits: &logits) { false })
            #expect(logits.allSatisfy { $0.isFinite })
        }

        @Test func ofAllKindsNeverEndTheProcess() async throws {
            let count = TestExtent.isFull ? 10_000 : 300
            var generator = SeededGenerator(seed: 3)
            let engine = try await MLXEngine.load(TinyFolder(layers: 1), context: 64, threads: 1)
            var answered = 0
            for _ in 0..<count {
                var options = GenerationOptions(
                    sampling: SamplingOptions(
                        temperature: Float.random(in: 0...2, using: &generator),
                        seed: UInt32.random(in: 0...9, using: &generator)),
                    maximumNewTokens: Int.random(in: 0...4, using: &generator))
                options.usesChatTemplate = false
                let length = Int.random(in: 0...80, using: &generator)
                let isHostile = Int.random(in: 0..<10, using: &generator) == 0
                options.promptTokens = (0..<length).map { _ in
                    isHostile
                        ? TokenID.random(in: .min ... .max, using: &generator)
                        : TokenID.random(in: 0..<TokenID(TinyFolder.vocabulary), using: &generator)
                }
                options.reusesPrompt = Bool.random(using: &generator)
                do {
                    _ = try await engine.generate([], options: options) { _ in }
                    answered += 1
                } catch let error as LLMError {
                    #expect([.generateFailed, .exceededContextWindowSize, .templateFailed].contains(error.code))
                }
            }
            #expect(answered > count / 3)
            await engine.unload()
        }
    }
}

extension WeightMaker {
    /// The tensors of one layer of a Llama of 32 numbers.
    fileprivate var small: [TinyFolder.Tensor] {
        var maker = self
        return maker.tensors(.llama, layers: 1, hidden: 32, head: 8)
    }
}
#endif
