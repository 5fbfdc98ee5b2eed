#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// Requests of all kinds from eight tasks to two models, cancelled at any moment. In the short form one model
    /// is loaded and unloaded repeatedly. In full, in a separate process, memory and handles are counted too.
    @Suite struct Soak {
        private static let tasks = 8

        private static func load() async throws -> LlamaActor {
            // The kept states reach their limit before the first count.
            var configuration = LlamaConfiguration(contextLength: 1024, stateBytes: 8 << 20)
            let engine = LlamaActor(configuration: configuration)
            configuration.chatTemplate = SoakRequest.template
            try await engine.load(
                TestModel.path, projector: TestModel.path(.projector), configuration: configuration)
            #expect(try await engine.capabilities.contains(.tools))
            try await SoakRequest.loadForVision(engine)
            return engine
        }

        /// Uses all memory that is allocated once, at its first use: prompts that fill a chunk, of which one is
        /// replaced by the next; a picture; a text whose vectors fill another chunk.
        private static func warmUp(_ engine: LlamaActor) async throws {
            let long = ["fox", "bear"].map {
                ChatMessage(.user, String(repeating: "The \($0) walks along the quiet river today. ", count: 100))
            }
            for role in EngineRole.allCases {
                let picture = ChatMessage(.user, "What is this?", images: [try ChatImage(TestPictures.png)])
                for message in long + [picture] {
                    let options = GenerationOptions.greedy(maximumNewTokens: 4)
                    _ = try await Answer(engine.generate([message], options: options, role: role))
                }
            }
            _ = try await engine.embed([String(repeating: "fox ", count: 300)])
        }

        /// The expected reasons for the end of a request.
        private static let known: Set<String> = [
            "stop", "stop-string", "length", "context-full", "timeout", "let go", "cancelled", "embedded",
            "counted",
            ErrorCode.exceededContextWindowSize.rawValue, ErrorCode.cannotReadPicture.rawValue,
            ErrorCode.pictureTooLarge.rawValue, ErrorCode.unusableGrammar.rawValue,
        ]

        private struct Progress {
            var ends: [String: Int] = [:]
            var done = 0
            var residentAtHundred = 0
        }

        @Test(.enabled(if: TestExtent.isFull || SoakSize.isFull)) func everyRequestEndsWithAReason() async throws {
            let total = SoakSize.requests
            let before = Handles.held
            let engine = try await Self.load()
            try await Self.warmUp(engine)
            let idle = Handles.held
            let progress = Locked(Progress())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<Self.tasks {
                    let share = total / Self.tasks + (task < total % Self.tasks ? 1 : 0)
                    group.addTask {
                        var request = SoakRequest(engine, seed: UInt64(100 + task))
                        for _ in 0..<share {
                            let end = try await request.make()
                            let resident = try Self.residentBytes()
                            let done = progress.withLock {
                                $0.ends[end, default: 0] += 1
                                $0.done += 1
                                if $0.done == 100 { $0.residentAtHundred = resident }
                                return $0.done
                            }
                            if done % 100 == 0 { print("soak: request \(done), resident \(resident >> 20) MiB") }
                        }
                    }
                }
                try await group.waitForAll()
            }
            // A released request is removed when the thread runs another job.
            while engine.isAnswering { _ = try await engine.embed(["fox"]) }
            let seen = progress.withLock { $0 }
            let resident = try Self.residentBytes()
            print(
                "soak: \(seen.done) requests: "
                    + seen.ends.sorted { $0.key < $1.key }
                    .map { "\($0.key) \($0.value)" }.joined(separator: ", "))
            #expect(seen.done == total)
            // When a model is unloaded, its answers end.
            let known = SoakSize.isFull ? Self.known : Self.known.union(["unloaded", "reloaded"])
            #expect(Set(seen.ends.keys).isSubset(of: known), "\(seen.ends)")
            // The requests did not change the state of other conversations.
            let answer = try await Answer(
                engine.generate(
                    capitalOfFrance, options: GenerationOptions(sampling: .greedy, thinking: .disabled)))
            #expect(answer.text.contains("Paris"))
            if SoakSize.isFull { try expectBalance(idle, seen, resident) }
            await engine.unload()
            #expect(!engine.isAnswering)
            if SoakSize.isFull { #expect(Handles.held == before) }
        }

        /// This test is alone in its process.
        private func expectBalance(_ idle: [Handles.Kind: Int], _ seen: Progress, _ resident: Int) throws {
            let held = Handles.held
            print("soak: handles before \(Self.text(idle)), after \(Self.text(held))")
            // The parts of pictures are kept by size, at most 256 of them.
            #expect(held.filter { $0.key != .pieces } == idle.filter { $0.key != .pieces })
            #expect(held[.pieces, default: 0] <= 256)
            guard seen.done > 100 else { return }
            let growth = Double(resident) / Double(seen.residentAtHundred)
            print(
                String(
                    format: "soak: resident %.1f MiB at request 100, %.1f MiB at request %d (%+.1f %%)",
                    Double(seen.residentAtHundred) / 1_048_576, Double(resident) / 1_048_576, seen.done,
                    (growth - 1) * 100))
            #expect(growth <= 1.05)
        }

        private static func text(_ handles: [Handles.Kind: Int]) -> String {
            handles.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }.joined(
                separator: " ")
        }

        private static func residentBytes() throws -> Int {
            #if os(Linux)
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(Int(text.split(separator: " ")[1])) * 4096
            #else
            return 1
            #endif
        }
    }
}
#endif
