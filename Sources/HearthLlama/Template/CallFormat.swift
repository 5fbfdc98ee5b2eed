#if Llama
import CLlamaShim
import Foundation
import HearthBase
import HearthInference

/// The format in which a template's model writes calls of the offered tools. Immutable, so any thread may read it.
final class CallFormat: @unchecked Sendable {
    /// The C handle, freed with its owner.
    final class Raw {
        let pointer: OpaquePointer

        init(_ pointer: OpaquePointer) {
            self.pointer = pointer
            Handles.take(.calls)
        }

        deinit {
            hearth_call_format_free(pointer)
            Handles.give(.calls)
        }
    }

    private struct Description: Decodable {
        let grammar: String
        let words: [String]
        let marks: [String]
        let stops: [String]
    }

    private let raw: Raw
    /// The grammar of calls, from their first word to the end of the answer.
    let grammar: Grammar
    /// The words with which calls begin.
    let words: [String]
    /// The control tokens that are part of calls.
    let marks: Set<String>
    /// The texts that end an answer besides the model's own end.
    let stops: [String]

    /// - Throws: `grammar-unusable` if calls cannot be constrained to the format.
    init(_ raw: Raw, shapes: ToolShapes) throws {
        var reason: UnsafeMutablePointer<CChar>?
        let text = hearth_call_format_describe(raw.pointer, &reason)
        let description = try JSON.value(Description.self, Self.taken(text, reason))
        self.raw = raw
        grammar = try shapes.grammar(description.grammar)
        marks = Set(description.marks)
        stops = description.stops
        let candidates =
            description.words.isEmpty ? shapes.names.flatMap(Self.beginnings) : description.words
        words = candidates.filter { [grammar] word in
            var matcher = GrammarMatcher(grammar)
            return matcher.take(word.utf8)
        }
        guard !words.isEmpty else {
            throw OutputConstraint.unusable("the template's calls begin with nothing that tells them from text")
        }
    }

    /// Reads the calls in a model's text. Calls without an id keep none.
    /// - Parameters:
    ///   - text: the text from the first word of the calls.
    ///   - whole: the whole text with its thinking. Some formats can be read only with the text before the calls,
    ///     others only without it.
    /// - Throws: `generation-failed` for text that cannot be read.
    func calls(in text: String, after whole: String) throws -> [ToolCall] {
        if whole != text, let calls = try? calls(in: whole), !calls.isEmpty { return calls }
        return try calls(in: text)
    }

    private func calls(in text: String) throws -> [ToolCall] {
        guard !ToolCall.isTooNested(text) else {
            throw Self.unreadable("they hold more than \(ToolCall.maximumNesting) objects and arrays")
        }
        var reason: UnsafeMutablePointer<CChar>?
        var text = text
        let list = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                hearth_call_format_parse(raw.pointer, $0.baseAddress, $0.count, &reason)
            }
        }
        return try JSON.value([ToolCall].self, Self.taken(list, reason))
    }

    /// Whether the grammar allows a call in a rendered history, and the call is read back unchanged.
    /// - Parameters:
    ///   - told: the rendered history that contains the call.
    ///   - prompt: the text before the answer that calls.
    func reads(_ call: ToolCall, in told: String, after prompt: String) throws -> Bool {
        // A prompt that ends with an opening of thinking can share some text with a call.
        let common = prompt.commonPrefix(with: told).count - (words.map(\.count).max() ?? 0)
        let rest = told.dropFirst(max(0, common))
        guard let start = words.compactMap({ rest.firstRange(of: $0)?.lowerBound }).min() else { return false }
        var matcher = GrammarMatcher(grammar)
        var taken: [UInt8] = []
        var complete = 0
        for byte in rest[start...].utf8 {
            guard matcher.take(CollectionOfOne(byte)) else { break }
            taken.append(byte)
            if matcher.isComplete { complete = taken.count }
        }
        let text = String(decoding: taken.prefix(complete), as: UTF8.self)
        let closing = ThinkingTags.opened(by: prompt, among: ThinkingTags.known)?.closing ?? ""
        let found = try calls(in: text, after: closing + "\n\n" + text)
        guard let only = found.first, found.count == 1, only.name == call.name else { return false }
        let values = try [only, call].map {
            try JSONSerialization.jsonObject(with: Data($0.arguments.utf8)) as? [String: String]
        }
        return values[0] != nil && values[0] == values[1]
    }

    /// The possible beginnings of a call without an opening mark. Beginnings outside the grammar are left out.
    private static func beginnings(_ tool: String) -> [String] {
        [
            #"{"name": "\#(tool)""#, #"{"name":"\#(tool)""#, #"{ "name": "\#(tool)""#, "{\n\"name\": \"\(tool)\"",
            "{\n  \"name\": \"\(tool)\"", "{\n    \"name\": \"\(tool)\"", #"{"function": "\#(tool)""#,
            #"{"type": "function", "name": "\#(tool)""#, #"{"type":"function","name":"\#(tool)""#,
            #"{"type": "function", "function": {"name": "\#(tool)""#, #"{"tool_name": "\#(tool)""#,
        ]
    }

    private static func taken(
        _ text: UnsafeMutablePointer<CChar>?, _ reason: UnsafeMutablePointer<CChar>?
    ) throws -> Data {
        let flaw = String(taking: reason)
        guard let text = String(taking: text) else { throw unreadable(flaw ?? "there is no memory for them") }
        return Data(text.utf8)
    }

    private static func unreadable(_ reason: String) -> LLMError {
        LLMError(.generateFailed, "the model's calls of tools cannot be read: \(reason)")
    }
}
#endif
