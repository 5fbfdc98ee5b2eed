/// Splits a model's output into its thinking and its answer, piece by piece.
///
/// A mark may span several pieces. Only bytes that may still become a mark are held. White space around the marks
/// belongs to them. A mark after the first visible character of the answer is text, so that a model can explain marks.
/// Inside a fenced code block of the thinking a closing mark counts only at the beginning of a line: code quotes marks
/// in the middle of lines, and a model that forgot to end its block still ends its thinking.
///
/// ```
///  beginning ──opening mark──> opened ──visible──> thinking ──closing mark──> closed ──visible──> answering
///      └──────────────────────────────────── anything else ───────────────────────────────────────────^
/// ```
/// Every byte is read once, and copied at most once: linear in the text for all piece lengths.
package struct ThinkingSplitter: Sendable {
    /// The part of the model's output.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Only white space, and possibly the beginning of an opening mark.
        case beginning
        /// After the opening mark; white space is skipped.
        case opened
        /// Inside the thinking.
        case thinking
        /// After the closing mark; white space is skipped.
        case closed
        /// In the answer, until the end.
        case answering
    }

    /// A piece of the thinking or of the answer.
    package enum Delta: Sendable, Hashable {
        case thinking(String)
        case text(String)
    }

    /// The present part of the model's output.
    package private(set) var state: State
    /// The pair around the thinking; `nil` before it begins.
    package private(set) var tags: ThinkingTags?
    private let openings: [(bytes: [UInt8], pair: ThinkingTags?)]
    /// The texts that may stand between the thinking and the answer.
    private let leads: [(bytes: [UInt8], pair: ThinkingTags?)]
    private var mark: ClosingMark
    private var fence = CodeFence()
    private let codeHidesMarks: Bool
    /// The bytes that are not emitted yet.
    private var held: [UInt8] = []
    /// The number of bytes at the end of `held` that belong to the beginning of an opening mark or a lead.
    private var openingCount = 0
    /// Whether the pending closing mark ends the thinking.
    private var isMarkCounted = true

    /// Makes a splitter for one answer.
    /// - Parameters:
    ///   - frame: the texts around thinking and answer, which belong to neither; the first complete opening mark
    ///     selects the pair.
    ///   - openedByPrompt: the pair whose opening mark already ends the prompt (``ThinkingTags/opened(by:among:)``).
    ///   - codeHidesMarks: whether a closing mark in a line of code is text; `false` if the first mark always ends the
    ///     thinking.
    package init(
        frame: AnswerFrame = AnswerFrame(), openedByPrompt: ThinkingTags? = nil, codeHidesMarks: Bool = true
    ) {
        self.codeHidesMarks = codeHidesMarks
        openings = frame.fronts(afterThinking: false)
        leads = frame.fronts(afterThinking: true)
        let opened = openedByPrompt.flatMap { $0.isUsable ? $0 : nil }
        self.tags = opened
        mark = ClosingMark(opened?.closing ?? "")
        state = opened != nil ? .opened : openings.isEmpty ? .answering : .beginning
    }

    /// Adds the next piece of the output and appends the deltas that are now certain, in order.
    package mutating func append(_ piece: String, into deltas: inout [Delta]) {
        if state == .answering {
            if !piece.isEmpty { deltas.append(.text(piece)) }
            return
        }
        var piece = piece
        piece.withUTF8 { take($0, into: &deltas) }
    }

    /// Ends the output and appends the held bytes. If the thinking was never closed, the state stays
    /// ``State/thinking``.
    package mutating func finish(into deltas: inout [Delta]) {
        switch state {
        case .beginning:
            if !held.isEmpty { deltas.append(.text(Self.text(held))) }
            state = .answering
        case .thinking:
            if !held.isEmpty { deltas.append(.thinking(Self.text(held))) }
        case .closed:
            if !held.isEmpty { deltas.append(.text(Self.text(held))) }
        case .opened, .answering: break
        }
        held = []
    }

    /// Ends the thinking with a closing mark that is one token: a model writes that token for no other purpose.
    package mutating func endThinking(into deltas: inout [Delta]) {
        guard isThinking else { return append(tags?.closing ?? "", into: &deltas) }
        while held.last?.isThinkingWhiteSpace == true { held.removeLast() }
        leaveThinking(into: &deltas)
    }

    /// Ends the thinking after the engine has written the closing mark itself; the answer follows. Outside the thinking
    /// it has no effect.
    package mutating func close(into deltas: inout [Delta]) {
        if isThinking { leaveThinking(into: &deltas) }
    }

    private mutating func leaveThinking(into deltas: inout [Delta]) {
        if !held.isEmpty { deltas.append(.thinking(Self.text(held))) }
        held = []
        state = .closed
    }

    /// Whether the next text belongs to the thinking.
    package var isThinking: Bool { state == .opened || state == .thinking }

    // MARK: - States

    private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, into deltas: inout [Delta]) {
        var index = 0
        while index < bytes.count {
            switch state {
            case .beginning: index = begin(bytes, from: index, openings, into: &deltas)
            case .closed where !leads.isEmpty:
                while openingCount == 0, index < bytes.count, bytes[index].isThinkingWhiteSpace { index += 1 }
                index = begin(bytes, from: index, leads, into: &deltas)
            case .opened:
                while index < bytes.count, bytes[index].isThinkingWhiteSpace { index += 1 }
                if index < bytes.count { state = .thinking }
            case .thinking: index = think(bytes, from: index, into: &deltas)
            case .closed:
                while index < bytes.count, bytes[index].isThinkingWhiteSpace { index += 1 }
                if index < bytes.count { state = .answering }
            case .answering:
                deltas.append(.text(Self.text(bytes[index...])))
                index = bytes.count
            }
        }
    }

    /// Compares the bytes, after white space, with the texts that may precede the answer's text.
    private mutating func begin(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ fronts: [(bytes: [UInt8], pair: ThinkingTags?)],
        into deltas: inout [Delta]
    ) -> Int {
        for index in start..<bytes.count {
            let byte = bytes[index]
            held.append(byte)
            if openingCount == 0, byte.isThinkingWhiteSpace { continue }
            openingCount += 1
            let begun = held.suffix(openingCount)
            let fitting = fronts.filter { $0.bytes.starts(with: begun) }
            guard !fitting.isEmpty else {
                // The answer has no frame; it keeps its leading white space.
                deltas.append(.text(Self.text(held + bytes[(index + 1)...])))
                held = []
                openingCount = 0
                state = .answering
                return bytes.count
            }
            guard let front = fitting.first(where: { $0.bytes.count == openingCount }) else { continue }
            held = []
            openingCount = 0
            if let pair = front.pair {
                tags = pair
                mark = ClosingMark(pair.closing)
                state = .opened
            } else {
                state = .answering
            }
            return index + 1
        }
        return bytes.count
    }

    /// Searches for the closing mark and emits the bytes that cannot belong to it.
    private mutating func think(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, into deltas: inout [Delta]) -> Int
    {
        var index = start
        while index < bytes.count {
            if !codeHidesMarks || fence.isIdle, mark.pending == 0 {
                // No mark begins before the next first byte or line.
                let from = index
                while index < bytes.count, bytes[index] != mark.first, bytes[index] != 0x0A { index += 1 }
                mark.skipped(bytes[from..<index])
                if index == bytes.count { break }
            }
            let byte = bytes[index]
            index += 1
            let isLineStart = fence.isLineStart
            if codeHidesMarks { fence.take(byte, closingMark: mark.first) }
            let isWhole = mark.take(byte)
            if mark.isFirstByte { isMarkCounted = isLineStart || !fence.isOpen }
            guard isWhole else { continue }
            let pending = mark.pending
            mark.reset()
            guard isMarkCounted else { continue }
            release(bytes[start..<index], keeping: pending, into: &deltas)
            held.removeAll(keepingCapacity: true)
            state = .closed
            return index
        }
        release(bytes[start..<index], keeping: mark.pending, into: &deltas)
        return index
    }

    /// Emits `held` and the bytes, except the last ones of the given number, which are held.
    private mutating func release(
        _ bytes: Slice<UnsafeBufferPointer<UInt8>>, keeping count: Int, into deltas: inout [Delta]
    ) {
        let certain = held.count + bytes.count - count
        if certain >= held.count {
            let direct = bytes.prefix(certain - held.count)
            if held.isEmpty {
                if !direct.isEmpty { deltas.append(.thinking(Self.text(direct))) }
            } else if certain > 0 {
                deltas.append(.thinking(Self.text(held + direct)))
            }
            held.removeAll(keepingCapacity: true)
            held.append(contentsOf: bytes.dropFirst(direct.count))
        } else {
            if certain > 0 {
                deltas.append(.thinking(Self.text(held[..<certain])))
                held.removeFirst(certain)
            }
            held.append(contentsOf: bytes)
        }
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
