#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The state of the app's instructions outlives the process; nothing that a person wrote does.
    @Suite struct InstructionStates {
        private static let own =
            "You are helpful. " + String(repeating: "The fox walks along the quiet river today. ", count: 12)
        private let home: TemporaryFolder

        init() throws { home = try TemporaryFolder() }

        private var folder: Path { home.path("states") }

        private func engine(_ path: Path, _ change: (inout LlamaConfiguration) -> Void = { _ in }) async throws
            -> LlamaActor
        {
            var configuration = LlamaConfiguration(contextLength: 1024, threadCount: 1, deviceMemory: 16 << 30)
            configuration.instructionFolder = folder
            change(&configuration)
            return try await LlamaActor.load(path, configuration: configuration)
        }

        private func ask(
            _ engine: LlamaActor, _ question: String, facts: String = "", isPrivate: Bool = false
        ) async throws -> Answer {
            var options = GenerationOptions.greedy(maximumNewTokens: 4)
            if !isPrivate { options.ownInstructions = Self.own.utf8.count }
            let messages = [ChatMessage(.system, Self.own + facts), ChatMessage(.user, question)]
            return try await Answer(engine.generate(messages, options: options))
        }

        /// The files with their bytes and dates.
        private func files() throws -> [String: (data: Data, date: Date)] {
            guard FileManager.default.fileExists(atPath: folder.string) else { return [:] }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.string)
            return try Dictionary(
                uniqueKeysWithValues: names.map { name in
                    let path = folder.joined(name).string
                    let facts = try FileManager.default.attributesOfItem(atPath: path)
                    #expect(facts[.posixPermissions] as? Int == 0o600)
                    return (
                        name,
                        (try Data(contentsOf: URL(filePath: path)), try #require(facts[.modificationDate] as? Date))
                    )
                })
        }

        private static let paths: [@Sendable () throws -> Path] = [
            { try TestModel.light }, { try TestModel.path(.recurrent) },
        ]

        @Test(arguments: paths.indices)
        func theNextProcessReadsNoneAgain(index: Int) async throws {
            let path = try Self.paths[index]()
            let first = try await engine(path)
            let cold = try await ask(first, "Why does the fox walk?")
            #expect(cold.summary?.usage.cachedTokens == 0 && cold.summary?.cacheMiss == .cold)
            await first.unload()
            let kept = try files()
            #expect(kept.count == 1)
            let file = try #require(kept.values.first)
            let state = try #require(StateFile(decoding: file.data))

            let second = try await engine(path)
            let warm = try await ask(second, "Where is the bear?", facts: "\n\nI am Anna.", isPrivate: index == 0)
            // With facts behind them the instructions end otherwise, and recurrent layers cannot go back.
            let reused = warm.summary?.usage.cachedTokens ?? 0
            #expect(index == 0 ? reused >= state.tokens.count - 8 : reused == 0)
            await second.unload()
            let third = try await engine(path)
            let other = try await ask(third, "Where is the bear?")
            #expect(other.summary?.usage.cachedTokens == state.tokens.count)
            // A restored state and a computed one give the same answer.
            let fresh = try await engine(path) { $0.instructionFolder = nil }
            #expect(try await ask(fresh, "Where is the bear?").text == other.text)
            await third.unload()
            await fresh.unload()
        }

        /// The bytes on the disk are those of an engine that never saw a question or a record.
        @Test func nothingOfAPersonIsKept() async throws {
            let path = try TestModel.light
            let asked = try await engine(path)
            for number in 0..<10 {
                _ = try await ask(
                    asked, "Secret number \(number)", facts: number > 4 ? "\n\nI am Anna \(number)." : "")
            }
            await asked.unload()
            let after = try files()
            // With records the instructions end elsewhere, at one place for all of them.
            #expect(after.count <= 2)
            let alone = try await LlamaActor.load(path)
            var ends: [TokenID] = []
            for value in after.values {
                let state = try #require(StateFile(decoding: value.data))
                let text = String(decoding: try await alone.pieces(of: state.tokens).joined(), as: UTF8.self)
                #expect(text.contains("You are helpful.") && !text.contains("Secret") && !text.contains("Anna"))
                ends.append(TokenID(state.tokens.count))
            }
            await alone.unload()
            // Ten questions later nothing is added.
            let again = try await engine(path)
            for number in 0..<10 { _ = try await ask(again, "Another question \(number)") }
            await again.unload()
            #expect(try files().mapValues(\.data) == after.mapValues(\.data))
        }

        @Test func aPrivateConversationReadsItAndWritesNone() async throws {
            let path = try TestModel.light
            let empty = try await engine(path)
            _ = try await ask(empty, "Why?", isPrivate: true)
            await empty.unload()
            #expect(try files().isEmpty)
            let open = try await engine(path)
            _ = try await ask(open, "Why?")
            await open.unload()
            let kept = try files()
            let closed = try await engine(path)
            let answer = try await ask(closed, "Where?", isPrivate: true)
            #expect(answer.summary?.usage.cachedTokens ?? 0 > 64)
            await closed.unload()
            #expect(try files().mapValues(\.data) == kept.mapValues(\.data))
            #expect(try files().mapValues(\.date) == kept.mapValues(\.date))
        }

        /// A file that is not what this model wrote is deleted, and the instructions are computed.
        @Test(arguments: [
            "cut", "empty", "changed", "other model", "other build", "later version", "no state",
        ])
        func aForeignOrDamagedStateIsDeleted(kind: String) async throws {
            let path = try TestModel.light
            let first = try await engine(path)
            let cold = try await ask(first, "Why?")
            await first.unload()
            let (name, good) = try #require(try files().first)
            let state = try #require(StateFile(decoding: good.data))
            func made(_ change: (inout StateFile) -> Void) throws -> Data {
                var other = state
                change(&other)
                return try other.encoded()
            }
            let data: Data =
                switch kind {
                case "cut": good.data.dropLast(good.data.count / 3)
                case "empty": Data()
                case "changed": Data(good.data.enumerated().map { $0 == good.data.count / 2 ? $1 ^ 1 : $1 })
                case "other model": try made { $0.maker = "a" + $0.maker.dropFirst() }
                case "other build":
                    try made { $0.maker = $0.maker.replacing("llama.cpp \(LlamaLibrary.version)", with: "llama.cpp 1") }
                case "later version": Data(good.data.enumerated().map { $0 == 4 ? 9 : $1 })
                default: Data("my notes".utf8)
                }
            try data.write(to: URL(filePath: folder.joined(name).string))
            let second = try await engine(path)
            let answer = try await ask(second, "Why?")
            #expect(answer.summary?.usage.cachedTokens == 0, "\(kind)")
            #expect(answer.text == cold.text)
            await second.unload()
            // It was written anew.
            #expect(try files().mapValues(\.data) == [name: good.data], "\(kind)")
        }

        /// Shorter instructions than are worth keeping, and a count that fits no message.
        @Test(arguments: [0, 5, -3, 1 << 40]) func instructionsThatCannotBeKeptAreNot(count: Int) async throws {
            let engine = try await engine(try TestModel.light)
            var options = GenerationOptions.greedy(maximumNewTokens: 2)
            options.ownInstructions = count
            let messages = [ChatMessage(.system, "Äöü " + Self.own), ChatMessage(.user, "Why?")]
            _ = try await Answer(engine.generate(messages, options: options))
            await engine.unload()
            #expect(try files().isEmpty == (count < 100))
        }

        @Test func aPrivateConversationIsForgotten() async throws {
            let engine = try await engine(try TestModel.light)
            let first = try await ask(engine, "Why does the fox walk?", isPrivate: true)
            let again = try await ask(engine, "Why does the fox walk?", isPrivate: true)
            #expect(again.summary?.usage.cachedTokens == (first.summary?.usage.promptTokens ?? 0) - 1)
            await engine.forget()
            let forgotten = try await ask(engine, "Why does the fox walk?", isPrivate: true)
            #expect(forgotten.summary?.usage.cachedTokens == 0 && forgotten.text == first.text)
            await engine.unload()
        }
    }
}
#endif
