import Foundation
import HearthBase

// Measures how fast an answer comes while the same process does other work of ours, and prints one line of JSON;
// scripts/bench/neighbours.py sets the adapting number of threads beside fixed ones:
//
//     HearthBesideBench pull MODEL TOKENS THREADS HOME ORIGIN FAMILY     pulls from an origin's address, again and again
//     HearthBesideBench verify MODEL TOKENS THREADS HOME                 hashes what is installed, again and again
//     HearthBesideBench host MODEL TOKENS THREADS FOLDER PORT            serves a folder to whoever asks
//
// THREADS is 0 for as many as the engine likes.
@main enum BesideBench {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 5, let tokens = Int(words[2]), let threads = Int(words[3]) else { exit(64) }
        let answer = TimedAnswer(model: Path(words[1]), tokens: tokens, threads: threads == 0 ? nil : threads)
        let work: any OwnWork
        switch (words[0], words.count) {
        case ("pull", 7): work = try Pulling(home: Path(words[4]), origin: words[5], family: words[6])
        case ("verify", 5): work = Verifying(home: Path(words[4]))
        case ("host", 6): work = Hosting(folder: Path(words[4]), port: words[5])
        default: exit(64)
        }
        let figures = try await answer.measure(beside: work)
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
    }
}
