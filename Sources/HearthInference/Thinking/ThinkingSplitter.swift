/// Splits what a model writes into its thinking and its answer, live.
///
/// The marks may be cut anywhere between pieces; what can still become one is held back, nothing else. White space around
/// the marks belongs to them. A mark after the first visible character of the answer is text, so a model that explains
/// marks is not cut apart. A closing mark inside a fenced code block of the thinking is left alone; if that block does not end
/// within ``mostDoubted`` bytes it was none, and the mark counts after all.
///
/// ```
///  beginning ──opening mark──> opened ──visible──> thinking ──closing mark──> closed ──visible──> answering
///      └──────────────────────────────────── anything else ───────────────────────────────────────────^
/// ```
/// Every byte is looked at once, and at most copied once: linear in the text, however it is cut.
public struct ThinkingSplitter: Sendable {
    /// Where in its output the model is.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Only white space, and perhaps the front of an opening mark.
        case beginning
        /// After the opening mark; white space is skipped.
        case opened
        /// Inside the thinking.
        case thinking
        /// After the closing mark; white space is skipped.
        case closed
        /// In the answer, up to the end.
        case answering
    }

    /// The bytes after a closing mark in a code block that are held back until the block ends, 1 KiB: so long a listing after it is
    /// less likely than an answer.
    public static let mostDoubted = 1024

    /// A piece of one or the other.
    public enum Delta: Sendable, Hashable {
        case thinking(String)
        case text(String)
    }

    /// Where the model is.
    public private(set) var state: State
    /// The pair that encloses the thinking, once it has begun.
    public private(set) var tags: ThinkingTags?
    private let openings: [(bytes: [UInt8], pair: ThinkingTags?)]
    /// What may follow the thinking before the answer's text.
    private let leads: [(bytes: [UInt8], pair: ThinkingTags?)]
    private var mark: ClosingMark
    private var fence = CodeFence()
    private let codeHidesMarks: Bool
    /// The bytes not given out yet.
    private var held: [UInt8] = []
    /// The number of bytes at the end of `held` that belong to an opening mark or a lead that has begun.
    private var openingCount = 0
    /// The length of a closing mark inside a code block that has not ended, with the white space before it: `held`
    /// begins with it.
    private var doubt: Int?

    /// A splitter for one answer.
    /// - Parameters:
    ///   - tags: the pairs to look for; the first opening mark that is complete decides.
    ///   - openedByPrompt: the pair whose opening mark ends the prompt already (``ThinkingTags/opened(by:among:)``).
    ///   - codeHidesMarks: a closing mark in a code block is left alone; `false` where it has to be certain at once what the answer is.
    public init(
        tags: [ThinkingTags] = ThinkingTags.usual, openedByPrompt: ThinkingTags? = nil, codeHidesMarks: Bool = true
    ) {
        self.init(frame: AnswerFrame(tags: tags), openedByPrompt: openedByPrompt, codeHidesMarks: codeHidesMarks)
    }

    /// A splitter for an answer in a frame, whose texts belong neither to the thinking nor to the answer.
    package init(frame: AnswerFrame, openedByPrompt: ThinkingTags? = nil, codeHidesMarks: Bool = true) {
        self.codeHidesMarks = codeHidesMarks
        openings = frame.fronts(afterThinking: false)
        leads = frame.fronts(afterThinking: true)
        let opened = openedByPrompt.flatMap { $0.isUsable ? $0 : nil }
        self.tags = opened
        mark = ClosingMark(opened?.closing ?? "")
        state = opened != nil ? .opened : openings.isEmpty ? .answering : .beginning
    }

    /// Takes the next piece of the output and gives the deltas it makes certain, in order.
    public mutating func append(_ piece: String, into deltas: inout [Delta]) {
        if state == .answering {
            if !piece.isEmpty { deltas.append(.text(piece)) }
            return
        }
        var piece = piece
        piece.withUTF8 { take($0, into: &deltas) }
    }

    /// The deltas of the next piece.
    public mutating func append(_ piece: String) -> [Delta] {
        var deltas: [Delta] = []
        append(piece, into: &deltas)
        return deltas
    }

    /// Ends the output: what was held back is decided. A thinking that was never closed stays ``State/thinking``.
    public mutating func finish(into deltas: inout [Delta]) {
        switch state {
        case .beginning:
            if !held.isEmpty { deltas.append(.text(Self.text(held))) }
            state = .answering
        case .thinking:
            fence.finish()
            if fence.isOpen, settle(into: &deltas) {
                state = .answering
            } else if !held.isEmpty {
                deltas.append(.thinking(Self.text(held)))
            }
        case .closed:
            if !held.isEmpty { deltas.append(.text(Self.text(held))) }
        case .opened, .answering: break
        }
        held = []
        doubt = nil
    }

    /// Ends the thinking with a closing mark that came as one token: a model writes that token for nothing else.
    package mutating func endThinking(into deltas: inout [Delta]) {
        guard isThinking else { return append(tags?.closing ?? "", into: &deltas) }
        while held.last?.isThinkingWhiteSpace == true { held.removeLast() }
        if !held.isEmpty { deltas.append(.thinking(Self.text(held))) }
        held = []
        doubt = nil
        state = .closed
    }

    /// Ends the thinking because the engine has written the closing mark itself; what follows is the answer.
    ///
    /// Does nothing outside the thinking, nor where the model itself had ended it (``settle(into:)``).
    public mutating func close(into deltas: inout [Delta]) {
        guard isThinking, !settle(into: &deltas) else { return }
        if !held.isEmpty { deltas.append(.thinking(Self.text(held))) }
        held = []
        doubt = nil
        state = .closed
    }

    /// Takes a closing mark in a code block that has not ended for the end of the thinking; what followed it is the answer.
    /// - Returns: `false` without such a mark: the model still thinks.
    public mutating func settle(into deltas: inout [Delta]) -> Bool {
        guard let doubt else { return false }
        let answer = held.dropFirst(doubt).drop { $0.isThinkingWhiteSpace }
        if !answer.isEmpty { deltas.append(.text(Self.text(answer))) }
        state = answer.isEmpty ? .closed : .answering
        held = []
        self.doubt = nil
        return true
    }

    /// Whether what comes next belongs to the thinking.
    public var isThinking: Bool { state == .opened || state == .thinking }

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

    /// Compares with what may stand before the answer's text, white space before it aside.
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
                // An ordinary answer, with the white space it begins with.
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

    /// Looks for the closing mark; gives out what cannot belong to it.
    private mutating func think(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, into deltas: inout [Delta]) -> Int
    {
        var index = start
        while index < bytes.count {
            // Between two characters, so that the text stays whole.
            if let doubt, held.count + index - start - doubt >= Self.mostDoubted, bytes[index] & 0xC0 != 0x80 {
                held.append(contentsOf: bytes[start..<index])
                _ = settle(into: &deltas)
                return index
            }
            if !codeHidesMarks || fence.isIdle, doubt == nil, mark.pending == 0 {
                // Nothing begins before the next mark or line.
                let from = index
                while index < bytes.count, bytes[index] != mark.first, bytes[index] != 0x0A { index += 1 }
                mark.skipped(bytes[from..<index])
                if index == bytes.count { break }
            }
            let byte = bytes[index]
            index += 1
            if codeHidesMarks { fence.take(byte, closingMark: mark.first) }
            // A block that opens where one is open belongs to the answer: the mark before it was one.
            if doubt != nil, fence.opensAgain {
                held.append(contentsOf: bytes[start..<index])
                _ = settle(into: &deltas)
                return index
            }
            // When the block has ended, the mark in it was part of the code.
            if !fence.isOpen { doubt = nil }
            guard mark.take(byte) else { continue }
            let pending = mark.pending
            mark.reset()
            if doubt != nil { continue }
            release(bytes[start..<index], keeping: pending, into: &deltas)
            if fence.isOpen {
                doubt = pending
            } else {
                held.removeAll(keepingCapacity: true)
                state = .closed
            }
            return index
        }
        release(bytes[start..<index], keeping: doubt == nil ? mark.pending : held.count + index - start, into: &deltas)
        return index
    }

    /// Gives out `held` and the bytes, and holds back so many at their end.
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
