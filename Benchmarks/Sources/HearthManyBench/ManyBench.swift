import Foundation
import HearthBase
import HearthInference

/// Measures the engine as those who call it see it, and prints one line of JSON; scripts/bench sets it beside llama-server:
///
///     HearthManyBench streams MODEL TOKENS THREADS < prompts.json    all of them at once
///     HearthManyBench turns MODEL TOKENS THREADS < questions.json    one conversation, of two questions
///     HearthManyBench depth MODEL TOKENS THREADS < settings.json     decoding with and without flash attention, [depth, streams]
///     HearthManyBench bare MODEL TOKENS THREADS                      answers beside a bare loop over llama.cpp
///     HearthManyBench cancel MODEL ROUNDS THREADS                    how soon an end asked for comes
@main enum ManyBench {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 5, let count = Int(words[3]), let threads = Int(words[4]) else { exit(64) }
        let model = Path(words[2])
        switch words[1] {
        case "streams":
            let streams = Streams(model: model, prompts: try texts(), tokens: count, threads: threads)
            try show(try await streams.measure())
        case "turns":
            let turns = Turns(model: model, questions: try texts(), tokens: count, threads: threads)
            try show(try await turns.measure())
        case "depth":
            let settings = try JSONDecoder().decode(
                [Int].self, from: FileHandle.standardInput.readDataToEndOfFile())
            guard settings.count == 2, settings.allSatisfy({ $0 > 0 }) else { exit(64) }
            let depth = Depth(
                model: model, depth: settings[0], streams: settings[1], tokens: count, threads: threads)
            try show(try await depth.measure())
        case "bare": try show(try await Bare(model: model, tokens: count, threads: threads).measure())
        case "cancel": try show(try await Cancels(model: model, rounds: count, threads: threads).measure())
        default: exit(64)
        }
    }

    private static func texts() throws -> [String] {
        let texts = try JSONDecoder().decode([String].self, from: FileHandle.standardInput.readDataToEndOfFile())
        guard !texts.isEmpty else { exit(64) }
        return texts
    }

    private static func show(_ figures: some Encodable) throws {
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
    }
}
