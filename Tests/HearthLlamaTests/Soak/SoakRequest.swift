#if Llama
    import Foundation
    import HearthBase
    import HearthInference
    import HearthLlama
    import HearthTestSupport

    /// A request of any kind, and how it ended.
    struct SoakRequest {
        let engine: LlamaActor
        private var random: SeededGenerator

        init(_ engine: LlamaActor, seed: UInt64) {
            self.engine = engine
            random = SeededGenerator(seed: seed)
        }

        enum Kind: CaseIterable {
            case plain, letGo, cancelled, stopped, tooLong, truncated, tinyLimit, timeout, picture, brokenPicture
            case grammar, wrongGrammar, penalties, vectors, tooLongVectors, count, answersForVision
        }

        /// Makes one request.
        /// - Returns: the reason of its end: that of the summary, the code of the error, or what was done to it.
        mutating func make() async throws -> String {
            let kind = Kind.allCases.randomElement(using: &random) ?? .plain
            var options = GenerationOptions.seeded(
                UInt32.random(in: 0...999, using: &random), maximumNewTokens: Int.random(in: 1...12, using: &random))
            var messages = [ChatMessage(.user, text(words: Int.random(in: 2...12, using: &random)))]
            var role = EngineRole.text
            switch kind {
            case .plain: break
            case .letGo: return try await letGo(messages)
            case .cancelled: return try await cancelled(messages)
            case .stopped: options.stopStrings = ["e", "."]
            case .tooLong: messages = [ChatMessage(.user, text(words: 4000))]
            case .truncated:
                messages =
                    (0..<12).flatMap { _ in
                        [ChatMessage(.user, text(words: 60)), ChatMessage(.assistant, "Yes.")]
                    } + messages
            case .tinyLimit: options.maximumNewTokens = [0, 1, -1].randomElement(using: &random) ?? 0
            case .timeout: options.timeout = .milliseconds(Int.random(in: 0...80, using: &random))
            case .picture:
                if Bool.random(using: &random) { role = .vision }
                let picture = TestPictures.all.randomElement(using: &random)?.bytes ?? TestPictures.png
                messages[0].images = [try ChatImage(picture)]
            case .brokenPicture: return try await brokenPicture()
            case .grammar: options.constraint = .gbnf(#"root ::= ("yes" | "no") (", " ("yes" | "no")){3}"#)
            case .wrongGrammar: options.constraint = .gbnf("root ::= (")
            case .penalties: options.sampling.repeatPenalty = 1.2
            case .vectors, .tooLongVectors:
                return try await vectors(words: kind == .vectors ? 20 : 4000)
            case .count: return try await engine.count(messages) > 0 ? "counted" : "nothing counted"
            case .answersForVision: role = .vision
            }
            return try await ending(engine.generate(messages, options: options, role: role))
        }

        private mutating func text(words: Int) -> String {
            let word = ["red", "fox", "lake", "storm", "king", "été", "日本", "🎉"].randomElement(using: &random) ?? "red"
            return "Say " + (0..<words).map { "\(word) \($0 % 7)" }.joined(separator: " ")
        }

        /// Reads a stream to its end, which has to have a reason.
        private func ending(_ stream: AsyncThrowingStream<GenerationEvent, any Error>) async throws -> String {
            var reason = "no reason"
            do {
                for try await event in stream {
                    if case .finish(let summary) = event { reason = summary.reason.rawValue }
                }
            } catch let error as LLMError {
                reason = error.code.rawValue
            }
            return reason
        }

        /// Reads some events and lets go of the stream.
        private mutating func letGo(_ messages: [ChatMessage]) async throws -> String {
            var events = Int.random(in: 1...10, using: &random)
            for try await _ in engine.generate(messages, options: .greedy(maximumNewTokens: 40)) {
                events -= 1
                if events == 0 { break }
            }
            return "let go"
        }

        /// Cancels the task that reads, in whatever phase the request is then.
        private mutating func cancelled(_ messages: [ChatMessage]) async throws -> String {
            let long = messages + [ChatMessage(.assistant, "Yes."), ChatMessage(.user, text(words: 120))]
            let asked = Bool.random(using: &random) ? messages : long
            let task = Task { [self] in try await ending(engine.generate(asked, options: .greedy(maximumNewTokens: 60)))
            }
            let wait = Int.random(in: 0...400, using: &random)
            await withTaskGroup(of: Void.self) { group in
                // A moment, or the end of the answer if that is sooner.
                group.addTask { try? await Task.sleep(for: .milliseconds(wait)) }
                group.addTask { _ = await task.result }
                await group.next()
                task.cancel()
            }
            let reason = try await task.value
            return reason == "no reason" ? "cancelled" : reason
        }

        /// A file of which some bytes are wrong, or the end is missing.
        private mutating func brokenPicture() async throws -> String {
            var bytes = TestPictures.all.randomElement(using: &random)?.bytes ?? TestPictures.png
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1...bytes.count / 2, using: &random)) }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            do {
                let message = ChatMessage(.user, "What is this?", images: [try ChatImage(bytes)])
                let role = Bool.random(using: &random) ? EngineRole.text : .vision
                return try await ending(engine.generate([message], options: .greedy(maximumNewTokens: 2), role: role))
            } catch let error as LLMError {
                return error.code.rawValue
            }
        }

        private mutating func vectors(words: Int) async throws -> String {
            do {
                return try await engine.embed([text(words: words)]).count == 1 ? "embedded" : "no vector"
            } catch let error as LLMError {
                return error.code.rawValue
            }
        }
    }
#endif
