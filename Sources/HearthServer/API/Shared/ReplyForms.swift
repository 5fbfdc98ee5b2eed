import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// The encoder of one streamed answer. A value: it takes events and returns the bytes to send.
protocol StreamEncoder: Sendable {
    /// The media type of the stream.
    static var contentType: String { get }
    /// The bytes before the first event.
    mutating func begin() -> [UInt8]
    /// The bytes for an event; empty for none.
    mutating func take(_ event: APIEvent) -> [UInt8]
    /// The bytes after the last event.
    mutating func end() -> [UInt8]
    /// The bytes for a failure after the stream has begun.
    mutating func fail(_ failure: APIFailure) -> [UInt8]
}

extension StreamEncoder {
    static var contentType: String { EventStream.contentType }
    mutating func begin() -> [UInt8] { [] }
    mutating func end() -> [UInt8] { [] }
    mutating func fail(_ failure: APIFailure) -> [UInt8] { EventStream.event(nil, OpenAIFailure.body(failure)) }
}

/// Server-sent events (WHATWG HTML, section 9.2).
enum EventStream {
    static let contentType = "text/event-stream"

    /// One event.
    static func event(_ name: String? = nil, _ data: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        if let name { bytes += "event: \(name)\n".utf8 }
        bytes += "data: ".utf8
        bytes += data.bytes
        bytes += "\n\n".utf8
        return bytes
    }

    /// OpenAI's mark of a stream's end.
    static let done = Array("data: [DONE]\n\n".utf8)
}

/// Random identifiers, such as `chatcmpl-` with 24 letters and digits.
enum APIIdentifier {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    static func make(_ prefix: String) -> String {
        prefix + String((0..<24).map { _ in letters[Int.random(in: 0..<letters.count)] })
    }
}

extension GenerationSummary {
    /// llama.cpp's `timings`, which other clients show as well.
    var timingsBody: JSONValue {
        let prompt = usage.promptTokens - usage.cachedTokens
        let promptMilliseconds = Self.milliseconds(prompt, timings.prefillTokensPerSecond)
        let answerMilliseconds = Self.milliseconds(max(0, usage.generatedTokens - 1), timings.decodeTokensPerSecond)
        return [
            "cache_n": .integer(usage.cachedTokens), "prompt_n": .integer(prompt),
            "prompt_ms": .double(promptMilliseconds),
            "prompt_per_token_ms": .double(prompt > 0 ? promptMilliseconds / Double(prompt) : 0),
            "prompt_per_second": .double(timings.prefillTokensPerSecond),
            "predicted_n": .integer(usage.generatedTokens), "predicted_ms": .double(answerMilliseconds),
            "predicted_per_token_ms": .double(
                usage.generatedTokens > 1 ? answerMilliseconds / Double(usage.generatedTokens - 1) : 0),
            "predicted_per_second": .double(timings.decodeTokensPerSecond),
        ]
    }

    static func milliseconds(_ count: Int, _ rate: Double) -> Double { rate > 0 ? Double(count) / rate * 1000 : 0 }
}

/// The progress of a prompt in llama.cpp's form.
struct PromptProgress: Sendable {
    /// The tokens that were in the cache, known from the first report.
    private var cached: Int?

    mutating func body(done: Int, total: Int, milliseconds: Double) -> JSONValue {
        let cached = cached ?? done
        self.cached = cached
        return [
            "total": .integer(total), "cache": .integer(cached), "processed": .integer(done),
            "time_ms": .integer(Int(milliseconds)),
        ]
    }
}

extension JSONValue {
    /// The object with `invalid`, the reason why a call's arguments do not meet its tool's schema, beside the arguments;
    /// unchanged for other calls.
    func marked(_ call: ToolCall) -> JSONValue {
        guard let reason = call.invalid else { return self }
        var body = self
        body["invalid"] = .string(reason)
        return body
    }
}
