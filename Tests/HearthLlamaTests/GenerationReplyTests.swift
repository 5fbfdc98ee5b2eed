#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

@Suite struct GenerationReplyTests {
    private static let summary = GenerationSummary(
        reason: .endOfGeneration, usage: TokenUsage(promptTokens: 1, cachedTokens: 0, generatedTokens: 1),
        timings: GenerationTimings(firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0))

    private final class Notes: Sendable {
        let events = Locked<[GenerationEvent]>([])
        let ends = Locked<[FinishReason?]>([])

        func watch(_ reply: GenerationReply) {
            reply.onEnd { end in self.ends.withLock { $0.append(try? end.get().reason) } }
        }
    }

    @Test func theFirstEndIsReportedOnce() {
        let notes = Notes()
        let reply = GenerationReply { event in notes.events.withLock { $0.append(event) } }
        reply.deliver(.text("a"))
        reply.finish(.success(Self.summary))
        reply.finish(.failure(CancellationError()))
        notes.watch(reply)
        reply.deliver(.text("b"))
        #expect(notes.events.withLock { $0 } == [.text("a")])
        #expect(notes.ends.withLock { $0 } == [.endOfGeneration])
    }

    /// As when a caller cancels its own task inside `onEvent`.
    @Test func anEndDuringAnEventIsReportedAfterThatEvent() {
        let notes = Notes()
        let inside = Locked<GenerationReply?>(nil)
        let reply = GenerationReply { event in
            inside.withLock { $0 }?.finish(.failure(CancellationError()))
            #expect(notes.ends.withLock(\.isEmpty))
            notes.events.withLock { $0.append(event) }
        }
        inside.withLock { $0 = reply }
        notes.watch(reply)
        reply.deliver(.text("a"))
        reply.deliver(.text("b"))
        #expect(notes.events.withLock { $0 } == [.text("a")])
        #expect(notes.ends.withLock { $0 } == [nil])
        inside.withLock { $0 = nil }
    }
}
#endif
