import Foundation
import HearthBase

/// Answers all the prompts of a JSON list at once and prints one line of JSON; scripts/bench/streams.py sets it beside
/// llama-server:
///
///     HearthManyBench MODEL TOKENS THREADS < prompts.json
@main enum ManyBench {
    static func main() async throws {
        #if Llama
            let words = CommandLine.arguments
            guard words.count == 4, let tokens = Int(words[2]), let threads = Int(words[3]) else { exit(64) }
            let prompts = try JSONDecoder().decode(
                [String].self, from: FileHandle.standardInput.readDataToEndOfFile())
            guard !prompts.isEmpty else { exit(64) }
            let streams = Streams(model: Path(words[1]), prompts: prompts, tokens: tokens, threads: threads)
            print(String(decoding: try JSONEncoder().encode(try await streams.measure()), as: UTF8.self))
        #endif
    }
}
