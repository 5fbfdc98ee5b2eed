import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import Testing

@testable import HearthRouting

/// Bytes of an answer in, events out.
struct CloudReaderTests {
    private func reader(_ kind: CloudKind, _ options: GenerationOptions = GenerationOptions()) throws -> CloudReader {
        CloudReader(try CloudScript.settings(kind), request: CloudRequest([], options: options))
    }

    private func read(_ kind: CloudKind, _ text: String) throws -> (reader: CloudReader, events: [GenerationEvent]) {
        var reader = try reader(kind)
        let events = try reader.append(Array(text.utf8)) + reader.flush() + reader.finish()
        return (reader, events)
    }

    private func failure(_ kind: CloudKind, _ text: String) -> LLMError? {
        do {
            _ = try read(kind, text)
            return nil
        } catch {
            return error as? LLMError
        }
    }

    private func expectAnswer(_ reader: CloudReader, _ events: [GenerationEvent], _ comment: Comment) {
        #expect(events.text == CloudScript.text, comment)
        #expect(events.thinking == "Hm", comment)
        #expect(reader.answer.reason == .endOfGeneration, comment)
        #expect(
            reader.answer.usage == TokenUsage(promptTokens: 7, cachedTokens: 3, generatedTokens: 5), comment)
    }

    @Test(arguments: CloudKind.allCases) func anAnswerIsReadWhereverItIsCut(_ kind: CloudKind) throws {
        let bytes = Array(CloudScript.stream(kind).utf8)
        for cut in 0...bytes.count {
            var reader = try reader(kind)
            let events =
                try reader.append(Array(bytes[..<cut])) + reader.append(Array(bytes[cut...])) + reader.flush()
                + reader.finish()
            expectAnswer(reader, events, "cut at \(cut)")
        }
        var reader = try reader(kind)
        let events = try bytes.flatMap { try reader.append([$0]) } + reader.flush() + reader.finish()
        expectAnswer(reader, events, "byte by byte")
    }

    @Test(arguments: [CloudKind.gemini, .geminiRelay]) func geminiMaySendAList(_ kind: CloudKind) throws {
        let bytes = Array("[\(CloudScript.geminiPieces.joined(separator: "\n,\r\n"))]\n".utf8)
        for cut in 0...bytes.count {
            var reader = try reader(kind)
            let events =
                try reader.append(Array(bytes[..<cut])) + reader.append(Array(bytes[cut...])) + reader.flush()
                + reader.finish()
            expectAnswer(reader, events, "cut at \(cut)")
        }
    }

    @Test func aRelayMaySendStandardEvents() throws {
        let (reader, events) = try read(.geminiRelay, CloudScript.stream(.gemini))
        expectAnswer(reader, events, "")
    }

    @Test(arguments: CloudKind.allCases) func aCallIsJoinedFromFragments(_ kind: CloudKind) throws {
        let (reader, _) = try read(kind, CloudScript.call(kind))
        let calls = reader.answer.toolCalls
        #expect(calls.map(\.name) == ["weather"])
        #expect(calls.map(\.arguments) == [#"{"city":"Köln"}"#])
        #expect(calls.map(\.id.isEmpty) == [false])
        #expect(reader.answer.reason == .toolCalls)
    }

    @Test func marksOfThinkingInTheTextAreRead() throws {
        let pieces = ["<th", "ink>\nHm", "</think>\n\nYes"].map { text in
            "data: {\"choices\":[{\"delta\":{\"content\":\(JSONValue.string(text).line)}}]}\n\n"
        }
        let (_, events) = try read(
            .openai,
            pieces.joined() + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n")
        #expect(events.thinking.contains("Hm"))
        #expect(events.text == "Yes")
    }

    @Test func aStopStringEndsTheAnswer() throws {
        var reader = try reader(.gemini, GenerationOptions(stopStrings: ["🌍"]))
        let events = try reader.append(Array(CloudScript.stream(.gemini).utf8))
        #expect(events.text == "Grüße ")
        #expect(reader.hasEnded)
        #expect(reader.answer.reason == .stopString)
    }

    @Test func aSchemaOfAnthropicIsACallWhoseArgumentsAreTheAnswer() throws {
        var reader = try reader(.anthropic, GenerationOptions(constraint: .jsonSchema("{}")))
        let events = try reader.append(Array(CloudScript.call(.anthropic).utf8)) + reader.flush() + reader.finish()
        #expect(events.text == #"{"city":"Köln"}"#)
        #expect(reader.answer.reason == .endOfGeneration)
        #expect(reader.answer.toolCalls.isEmpty)
    }

    @Test(arguments: [
        (CloudKind.gemini, #"{"promptFeedback":{"blockReason":"SAFETY"}}"#, FinishReason.contentFilter),
        (.gemini, #"{"candidates":[{"finishReason":"SAFETY"}]}"#, .contentFilter),
        (.gemini, #"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#, .maximumNewTokens),
        (.gemini, #"{"candidates":[{"finishReason":"NEW_REASON"}]}"#, "new-reason"),
        (.openai, #"{"choices":[{"finish_reason":"content_filter"}]}"#, .contentFilter),
        (.openai, #"{"choices":[{"finish_reason":"length"}]}"#, .maximumNewTokens),
        (.anthropic, #"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#, .contentFilter),
        (.anthropic, #"{"type":"message_delta","delta":{"stop_reason":"stop_sequence"}}"#, .stopString),
        (.anthropic, #"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#, .maximumNewTokens),
    ]) func reasonsAreRead(_ kind: CloudKind, _ piece: String, _ reason: FinishReason) throws {
        #expect(try read(kind, "data: \(piece)\n\n").reader.answer.reason == reason)
    }

    // MARK: Bad input

    @Test(arguments: [
        ("<!doctype html><p>Sign in", "cloud.example sent a web page instead of an answer"),
        ("", "cloud.example sent no answer"),
        ("data: {\"usageMetadata\":{\"promptTokenCount\":1}}\n\n", "cloud.example sent no answer"),
        ("data: {\"candidates\":[{\"con\n\n", "cloud.example sent a piece of an answer that is not JSON"),
        ("{\"candid", "cloud.example sent a piece of an answer that is not JSON"),
        ("[1]", "cloud.example sent something that is not an answer"),
        ("hello\n\nworld\n\n", "cloud.example sent no answer"),
    ]) func somethingElseIsNoAnswer(_ text: String, _ sentence: String) {
        let error = failure(.gemini, text)
        #expect(error?.code == .unusableAnswer)
        #expect(error?.message == sentence)
    }

    @Test(arguments: CloudKind.allCases) func aLineOfAHundredMegabytesIsRefused(_ kind: CloudKind) throws {
        var reader = try reader(kind)
        _ = try reader.append(Array("data: {\"x\":\"".utf8))
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        #expect {
            for _ in 0..<100 { _ = try reader.append(piece) }
        } throws: {
            let error = $0 as? LLMError
            return error?.code == .unusableAnswer
                && error?.message == "cloud.example sent a piece of an answer that is larger than it may be"
        }
    }

    /// Cut anywhere before its reason, also in the middle of a character, an answer is interrupted or none, never complete.
    @Test(arguments: CloudKind.allCases) func anAnswerThatEndsEarlyIsNotComplete(_ kind: CloudKind) throws {
        let bytes = Array(CloudScript.stream(kind).utf8)
        let globe = try #require(bytes.firstIndex(of: 0xF0))
        for cut in 0..<globe + 3 {
            var reader = try reader(kind)
            var begun: [GenerationEvent] = []
            do {
                begun = try reader.append(Array(bytes[..<cut]))
                begun += try reader.flush()
                _ = try reader.finish()
                Issue.record("complete, cut at \(cut)")
            } catch let error as LLMError {
                let expected: ErrorCode<ModelInformation> =
                    begun.text.isEmpty && begun.thinking.isEmpty ? .unusableAnswer : .answerInterrupted
                #expect(error.code == expected, "cut at \(cut)")
                #expect(!begun.text.contains("\u{FFFD}"))
            }
        }
    }

    @Test(arguments: [CloudKind.openai, .anthropic]) func aCallThatEndsInTheMiddleIsNone(_ kind: CloudKind) throws {
        let text = CloudScript.call(kind)
        let end = try #require(text.range(of: "Köln"))
        let error = failure(kind, String(text[..<end.lowerBound]))
        #expect(error?.code == .answerInterrupted)
        #expect(error?.message == "the answer of cloud.example ended in the middle")
    }

    @Test(arguments: [
        (CloudKind.geminiRelay, #"{"error":"out of service"}"#, "generation-failed"),
        (.geminiRelay, #"{"error":{"message":"out of service"}}"#, "generation-failed"),
        (.gemini, #"{"error":{"code":503,"message":"out of service","status":"UNAVAILABLE"}}"#, "rate-limited"),
        (.openai, #"{"error":{"message":"out of service","type":"server_error"}}"#, "unreachable"),
        (
            .anthropic, #"{"type":"error","error":{"type":"overloaded_error","message":"out of service"}}"#,
            "rate-limited"
        ),
    ]) func anErrorMayStandInTheStream(_ kind: CloudKind, _ json: String, _ code: String) {
        for text in [json, "data: \(json)\n\n", "event: error\ndata: \(json)\n\n"] {
            let error = failure(kind, text)
            #expect(error?.codeText == code)
            #expect(error?.message.hasSuffix(#": "out of service""#) == true)
        }
    }
}
