#if MLX
import Foundation
import HearthBase
import HearthInference
@testable import HearthMLX
import HearthTestSupport
import Testing

/// Serialized, because memory is counted for the whole process.
@Suite(.serialized, .enabled(if: MLXEngine.isAvailable, "libhearth-mlx.so is not installed"), .timeLimit(.minutes(10)))
enum MLXModel {}

extension MLXEngine {
    static func load(_ folder: TinyFolder, context: Int? = nil, threads: Int = 2) async throws -> MLXEngine {
        try await load(
            folder: folder.path, configuration: MLXConfiguration(contextLength: context, threadCount: threads))
    }

    /// The tokens of an answer to raw tokens.
    func tokens(after prompt: [TokenID], count: Int = 12, seed: UInt32? = nil) async throws -> [TokenID] {
        var options = GenerationOptions(
            sampling: seed.map { SamplingOptions(temperature: 1, seed: $0) } ?? .greedy, maximumNewTokens: count)
        options.usesChatTemplate = false
        options.promptTokens = prompt
        options.maximumRepeats = nil
        options.tokenReports = .tokensOnly
        // No random answer ends early.
        for control in 256..<TinyFolder.vocabulary { options.sampling.logitBias[TokenID(control)] = -.infinity }
        let tokens = Locked<[TokenID]>([])
        _ = try await generate([], options: options) { event in
            if case .token(let report) = event { tokens.withLock { $0.append(report.chosen.token) } }
        }
        return tokens.withLock { $0 }
    }
}

extension MLXModel {
    @Suite(.serialized) struct Answers {
        private static let prompt = (0..<300).map { TokenID($0 * 7 % 256) }

        @Test(arguments: TinyFolder.Family.allCases, [(4, 32), (4, 64), (8, 32), (8, 64), (4, 128)])
        func areThoseOfTheSameWeightsAsFloats(_ family: TinyFolder.Family, _ form: (bits: Int, group: Int)) async throws
        {
            let hidden = 128
            let packed = try await MLXEngine.load(
                TinyFolder(family, bits: form.bits, group: form.group, shards: 3, hidden: hidden))
            let floats = try await MLXEngine.load(
                TinyFolder(
                    family, bits: form.bits, group: form.group, hidden: hidden, changes: ["quantization": "null"]
                ) {
                    $0 = $0.dequantized(bits: form.bits, group: form.group)
                })
            let expected = try await floats.tokens(after: Self.prompt)
            #expect(try await packed.tokens(after: Self.prompt) == expected)
            #expect(expected.count == 12)
            await packed.unload()
            await floats.unload()
        }

        /// Weights begin where the header ends, at an address that no vector begins at.
        @Test(arguments: [("BF16", 0), ("BF16", 1), ("BF16", 8), ("F16", 3), ("F16", 8), ("F32", 5)])
        func areTheSameWhereverWeightsBegin(_ type: String, _ padding: Int) async throws {
            func answer(isWide: Bool, padding: Int) async throws -> [TokenID] {
                let engine = try await MLXEngine.load(
                    TinyFolder(bits: 0, padding: padding) { $0 = $0.rounded(type, isWide: isWide) })
                let tokens = try await engine.tokens(after: Self.prompt)
                await engine.unload()
                return tokens
            }
            let expected = try await answer(isWide: true, padding: 0)
            #expect(try await answer(isWide: type == "F32", padding: padding) == expected)
            #expect(expected.count == 12)
        }

        @Test(arguments: TinyFolder.Family.allCases)
        func doNotDependOnThePartsOfThePrompt(_ family: TinyFolder.Family) async throws {
            let engine = try await MLXEngine.load(TinyFolder(family))
            let whole = try await engine.tokens(after: Self.prompt)
            await engine.forget()
            // Most of the prompt is held after a shorter one.
            _ = try await engine.tokens(after: Array(Self.prompt.prefix(290)), count: 1)
            #expect(try await engine.tokens(after: Self.prompt) == whole)
            await engine.unload()
        }

        @Test func areTheSameForTheSameSeed() async throws {
            let engine = try await MLXEngine.load(TinyFolder())
            let first = try await engine.tokens(after: [1, 2, 3], seed: 5)
            await engine.forget()
            #expect(try await engine.tokens(after: [1, 2, 3], seed: 5) == first)
            #expect(try await engine.tokens(after: [1, 2, 3], seed: 6) != first)
            await engine.unload()
        }

        @Test func haveTheTemplateOfTheFolder() async throws {
            let engine = try await MLXEngine.load(TinyFolder())
            let rendered = try await engine.rendered([ChatMessage(.user, "Hi")], options: GenerationOptions())
            #expect(rendered.text == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
            #expect(try await engine.modelInformation.contextLength == 4096)
            #expect(try await engine.capabilities.contains([.seed, .schema, .tokenCounts, .rawPrompt]))
            await engine.unload()
        }

        @Test func leaveNoMemoryAfterTheUnload() async throws {
            let before = MLXEngine.memoryInUse
            #expect(before == (0, 0))
            let engine = try await MLXEngine.load(TinyFolder(.gemma3, bits: 0))
            _ = try await engine.tokens(after: Self.prompt)
            #expect(MLXEngine.memoryInUse.active > 100_000)
            #expect(MLXEngine.memoryInUse.cache <= 20 << 20)
            await engine.unload()
            #expect(MLXEngine.memoryInUse == (0, 0))
        }

        @Test func stopWithinAQuarterOfASecond() async throws {
            let engine = try await MLXEngine.load(TinyFolder(bits: 8, layers: 8, hidden: 1024), threads: 1)
            let stopped = Locked<ContinuousClock.Instant?>(nil)
            for isInPrompt in [true, false] {
                let begun = AsyncStream<Void>.makeStream()
                let task = Task {
                    var options = GenerationOptions(sampling: .greedy, maximumNewTokens: .max)
                    options.usesChatTemplate = false
                    options.promptTokens = isInPrompt ? (0..<3000).map { TokenID($0 % 256) } : [1, 2]
                    options.maximumRepeats = nil
                    options.reusesPrompt = false
                    options.sampling.logitBias = [257: -.infinity]
                    _ = try await engine.generate([], options: options) { event in
                        switch event {
                        case .phase(.prefill) where isInPrompt: begun.continuation.yield()
                        case .phase(.decode) where !isInPrompt: begun.continuation.yield()
                        default: break
                        }
                    }
                }
                for await _ in begun.stream { break }
                let start = ContinuousClock.now
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                // The caller's wait ends at once; the engine's thread is free with the next request's end.
                _ = try await engine.tokens(after: [1], count: 1)
                stopped.withLock { $0 = .now }
                #expect(start.duration(to: .now) < .milliseconds(250))
            }
            await engine.unload()
        }
    }
}
#endif
