import Foundation
import HearthBase
import HearthInference
import Testing

@testable import HearthAssistant

/// The wire form of a turn's events, which the command and the page share.
@Suite struct ChatEventFormTests {
    private static let message = AssistantMessage(id: "m", role: .assistant, date: Date(timeIntervalSince1970: 0))

    @Test(arguments: [
        (
            ChatEvent.phase(.prefill(done: 1, total: 2)),
            #"{"doneTokens":1,"event":"phase","phase":"prefill","totalTokens":2}"#
        ),
        (.phase(.loading(fraction: .nan)), #"{"event":"phase","phase":"load"}"#),
        (.thinking("hm"), #"{"delta":"hm","event":"thinking"}"#), (.text("a"), #"{"delta":"a","event":"text"}"#),
        (.thinkingEnded, #"{"event":"thinking-ended"}"#), (.cleared, #"{"event":"cleared"}"#),
        (.notice("n"), #"{"event":"notice","text":"n"}"#),
        (.truncated(dropped: 3), #"{"dropped":3,"event":"truncated"}"#),
        (.picturesLeftOut(count: 1), #"{"count":1,"event":"pictures-left-out"}"#),
        (.removed(id: "m"), #"{"event":"message-removed","id":"m"}"#),
        (.finished(message), #"{"event":"finish","id":"m"}"#),
        (.started(question: nil, answer: message), #"{"answer":"m","event":"started"}"#),
        (
            .failed(FailureBody(code: "not-installed", message: "None.")),
            #"{"event":"failed","failure":{"code":"not-installed","message":"None."},"needsModel":true}"#
        ),
    ])
    func isOneObject(event: ChatEvent, text: String) throws {
        #expect(try JSON.text(event) == text)
    }

    @Test(arguments: [GenerationPhase.loading(fraction: 0.5), .connecting, .prefill(done: 1, total: 2), .decode])
    func aPhaseIsReadBack(phase: GenerationPhase) throws {
        #expect(try JSON.value(GenerationPhase.self, try JSON.data(phase)) == phase)
    }
}
