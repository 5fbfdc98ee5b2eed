/// Turns the bytes of tokens into the events of an answer: whole characters, and thinking apart from text. It ends the
/// answer before the first stop string.
///
/// ```swift
/// var reader = AnswerReader(stopStrings: ["END"])
/// reader.append(bytes) { yield($0) }
/// if reader.matchedStop != nil { … }
/// reader.finish { yield($0) }
/// ```
/// Stop strings are searched only in the answer's text: thinking may contain any text, and so may tool calls, which are
/// separated from their first mark to the end. Linear in the bytes.
package struct AnswerReader: Sendable {
    private var assembler = UTF8Assembler()
    private var splitter: ThinkingSplitter
    private var stops: StopStringMatcher
    private var callMarks: StopStringMatcher
    /// The text of the tool calls from their mark on; `nil` before the mark.
    package private(set) var calls: String?
    private var deltas: [ThinkingSplitter.Delta] = []

    /// Makes a reader for one answer.
    /// - Parameters:
    ///   - stopStrings: the strings that end the answer.
    ///   - frame: the texts around the answer, such as the marks of its thinking.
    ///   - openedByPrompt: the pair whose opening mark ends the prompt.
    ///   - callMarks: the texts that begin tool calls.
    ///   - codeHidesMarks: whether a closing mark in a code block of the thinking is text; `false` if the answer is
    ///     constrained to a grammar, which begins with the answer's first character.
    package init(
        stopStrings: [String] = [], frame: AnswerFrame = AnswerFrame(), openedByPrompt: ThinkingTags? = nil,
        callMarks: [String] = [], codeHidesMarks: Bool = true
    ) {
        splitter = ThinkingSplitter(frame: frame, openedByPrompt: openedByPrompt, codeHidesMarks: codeHidesMarks)
        stops = StopStringMatcher(stopStrings + (frame.end.map { [$0] } ?? []))
        self.callMarks = StopStringMatcher(callMarks)
    }

    /// Whether the next text belongs to the thinking.
    package var isThinking: Bool { splitter.isThinking }

    /// The present part of the model's output.
    package var state: ThinkingSplitter.State { splitter.state }

    /// The marks that enclose the thinking; `nil` before it begins.
    package var tags: ThinkingTags? { splitter.tags }

    /// The stop string that ended the answer.
    package var matchedStop: String? { stops.matched }

    /// The skipped bytes so far that belong to no character.
    package var droppedBytes: Int { assembler.droppedBytes }

    /// Adds the bytes of the next token.
    package mutating func append(_ bytes: UnsafeRawBufferPointer, _ emit: (GenerationEvent) -> Void) {
        let text = assembler.append(bytes)
        if text.isEmpty { return }
        splitter.append(text, into: &deltas)
        route(emit)
    }

    /// Adds a token. A token that is the whole closing mark always ends the thinking.
    package mutating func appendToken(_ bytes: UnsafeRawBufferPointer, _ emit: (GenerationEvent) -> Void) {
        guard isThinking, let closing = tags?.closing, bytes.elementsEqual(closing.utf8) else {
            return append(bytes, emit)
        }
        let rest = assembler.append(bytes).dropLast(closing.count)
        splitter.append(String(rest), into: &deltas)
        splitter.endThinking(into: &deltas)
        route(emit)
    }

    /// Ends the thinking after the engine has written the closing mark itself.
    package mutating func closeThinking(_ emit: (GenerationEvent) -> Void) {
        splitter.close(into: &deltas)
        route(emit)
    }

    /// Ends the answer and emits the held bytes.
    package mutating func finish(_ emit: (GenerationEvent) -> Void) {
        assembler.flush()
        splitter.finish(into: &deltas)
        route(emit)
        let begun = callMarks.finish()
        let rest = begun.isEmpty ? stops.finish() : stops.append(begun) + stops.finish()
        if !rest.isEmpty { emit(.text(rest)) }
    }

    private mutating func route(_ emit: (GenerationEvent) -> Void) {
        for delta in deltas {
            switch delta {
            case .thinking(let text): emit(.thinking(text))
            case .text(let text):
                if calls != nil {
                    calls?.append(text)
                    continue
                }
                let certain = stops.append(callMarks.append(text))
                if stops.matched == nil, let mark = callMarks.matched { calls = mark + callMarks.remainder }
                if !certain.isEmpty { emit(.text(certain)) }
            }
        }
        deltas.removeAll(keepingCapacity: true)
    }
}
