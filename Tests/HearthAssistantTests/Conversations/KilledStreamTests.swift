#if os(Linux) || os(macOS)
import Foundation
import HearthBase
import HearthDatabase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// A child process saves an answer while it streams and is killed: what it saved is still kept.
///
/// The child is this program with the one test that streams.
@Suite(.serialized) struct KilledStreamTests {
    private static let key = "HEARTH_STREAMING_CHILD"
    private static let home = ProcessInfo.processInfo.environment[key]

    @Test(.enabled(if: home != nil)) func childStreamsUntilItIsKilled() async throws {
        let home = try #require(Self.home)
        let store = SQLiteConversationStore(try await AssistantDatabase.open(home: Path(home)))
        let start = try await store.messages(of: "c").count
        for number in start... {
            var message = AssistantMessage(
                id: "m\(number)", role: number.isMultiple(of: 2) ? .user : .assistant,
                date: Date(timeIntervalSinceReferenceDate: 8e8 + Double(number)),
                parent: number == 0 ? nil : "m\(number - 1)")
            for length in 1...40 {
                message.content += "piece\(length) "
                try await store.save(message, in: "c")
                FileHandle.standardOutput.write(Data("saved \(number) \(length)\n".utf8))
            }
        }
    }

    /// What the child said that it had saved.
    private struct Saved: Comparable {
        var message = 0
        var length = 0

        static func < (left: Self, right: Self) -> Bool {
            (left.message, left.length) < (right.message, right.length)
        }
    }

    /// Starts the child, kills it after it has saved `count` times, and returns the last save that it reported.
    private static func kill(after count: Int, home: Path) throws -> Saved {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        child.arguments = ["--testing-library", "swift-testing", "--filter", "childStreamsUntilItIsKilled"]
        child.environment = ProcessInfo.processInfo.environment.merging([key: home.string]) { $1 }
        let output = Pipe()
        child.standardOutput = output
        child.standardError = FileHandle.nullDevice
        try child.run()
        var text = Data()
        var isKilled = false
        while case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
            text += piece
            if !isKilled, saves(in: text).count >= count {
                isKilled = true
                _ = Foundation.kill(child.processIdentifier, SIGKILL)
            }
        }
        child.waitUntilExit()
        #expect(isKilled && child.terminationReason == .uncaughtSignal)
        return saves(in: text).max() ?? Saved()
    }

    private static func saves(in text: Data) -> [Saved] {
        // The last line may be cut off.
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        return lines.compactMap { line in
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count == 3, words[0] == "saved", let message = Int(words[1]), let length = Int(words[2])
            else { return nil }
            return Saved(message: message, length: length)
        }
    }

    @Test(.enabled(if: home == nil)) func aKillLosesNothingThatWasSaved() async throws {
        let folder = try TemporaryFolder()
        var generator = SeededGenerator(seed: 23)
        for _ in 0..<(TestExtent.isFull ? 200 : 4) {
            let count = Int.random(in: 1...300, using: &generator)
            let saved = try await blocking { try Self.kill(after: count, home: folder.path) }
            let database = try await AssistantDatabase.open(home: folder.path)
            let store = SQLiteConversationStore(database)
            #expect(try await database.integrity() == [])
            let messages = try await store.messages(of: "c")
            #expect(try await store.conversation("c")?.messageCount == messages.count)
            let last = try #require(messages.last)
            let kept = Saved(message: messages.count - 1, length: last.content.split(separator: " ").count)
            #expect(kept >= saved)
            #expect(try await store.search("piece1", limit: 50).count == min(50, messages.count))
            await database.close()
        }
    }
}
#endif
