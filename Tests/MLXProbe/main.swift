// Continues lists of tokens with the most likely ones: HearthMLXProbe MODEL THREADS COUNT.
//
// MODEL is a folder of safetensors for MLX, or a GGUF file for llama.cpp. Each line of the input is a list of tokens; each
// line of the output is its continuation, and the tokens per second of the prompt and of the answer.
#if MLX
import Foundation
import HearthBase
import HearthInference
import HearthLlama
import HearthMLX

let words = CommandLine.arguments
guard words.count == 4, let threads = Int(words[2]), let count = Int(words[3]) else {
    print("HearthMLXProbe MODEL THREADS COUNT < TOKENS")
    exit(64)
}
let engine: any InferenceEngine =
    words[1].hasSuffix(".gguf")
    ? try await LlamaActor.load(
        Path(words[1]), configuration: LlamaConfiguration(contextLength: 4096, threadCount: threads))
    : try await MLXEngine.load(
        folder: Path(words[1]), configuration: MLXConfiguration(contextLength: 4096, threadCount: threads))
while let line = readLine() {
    var options = GenerationOptions(sampling: .greedy, maximumNewTokens: count)
    options.usesChatTemplate = false
    options.promptTokens = line.split(separator: " ").compactMap { TokenID($0) }
    options.maximumRepeats = nil
    options.reusesPrompt = false
    options.tokenReports = .tokensOnly
    options.timeout = .seconds(3600)
    let tokens = Locked<[TokenID]>([])
    let summary = try await engine.generate([], options: options) { event in
        if case .token(let report) = event { tokens.withLock { $0.append(report.chosen.token) } }
    }
    let text = tokens.withLock { $0.map(String.init).joined(separator: " ") }
    let timings = summary.timings
    print("\(text)\t\(timings.prefillTokensPerSecond)\t\(timings.decodeTokensPerSecond)")
}
await engine.tokens?.unload()
#endif
