import Foundation
import HearthInference

/// Separates the action blocks of an answer from its visible text, piece by piece.
///
/// ```
///         `[`               `[TAG: {`               last `}`              `]`
///  text ──────> opening ──────────────> payload ─────────────> closing ────────> text
///    ^─────────────┘ anything else                                └── anything else: the block ends before it
/// ```
/// Only bytes that may still begin a block are held, with the white space before them. Openings in fenced code blocks,
/// unknown tags, and tags without an object after them are text; with ``hidesOthers``, any tag that ends like an action's
/// begins a block. Text without blocks passes unchanged. The white space around a hidden block is joined: to a space, a
/// line break or a blank line.
///
/// Every byte is read once: linear in the text for all piece lengths. The concatenation of the visible pieces does not
/// depend on the cuts.
package struct BlockScanner: Sendable {
    private enum State {
        case text
        /// After `[`, while the held bytes may become the opening of a known tag.
        case opening
        case payload
        /// After the object.
        case closing
    }

    /// The most bytes of a payload that are kept; a longer block counts as cut off.
    package static let maximumPayload = 64 << 10

    private let openings: [(bytes: [UInt8], tag: ActionTag)]
    /// Whether blocks of other tags that end with `_ACTION` or `_SEARCH` are hidden too.
    private let hidesOthers: Bool
    /// The bytes that may follow the bracket of an opening.
    private let seconds: [Bool]
    private var state = State.text
    private var fence = CodeFence()
    private var visible = VisibleText()
    /// The bytes since `[`, while they may become a block.
    private var held: [UInt8] = []
    /// The openings that begin with the held bytes, one bit each.
    private var fitting: UInt64 = 0
    /// Whether the held bytes may become the opening of another action.
    private var mayBeOther = false
    private var object = ObjectEnd()
    private var payload: [UInt8] = []
    private var tag: ActionTag?
    private var blocks: [ScannedBlock] = []
    private var isFinished = false

    /// Makes a scanner for one answer. Tags with other characters than upper-case letters, digits and underscores, and
    /// those after the first 64, are ignored.
    /// - Parameter hidesOthers: whether blocks of other tags that end with `_ACTION` or `_SEARCH` are hidden too.
    package init(tags: [ActionTag], hidesOthers: Bool = false) {
        self.hidesOthers = hidesOthers
        openings = tags.filter(\.isUsable).prefix(64).map { (Array($0.opening.utf8), $0) }
        var seconds = [Bool](repeating: false, count: 256)
        for opening in openings { seconds[Int(opening.bytes[1])] = true }
        self.seconds = seconds
    }

    /// The blocks that have ended.
    package var endedBlocks: [ScannedBlock] { blocks }

    /// Whether the text since the last visible character is a block, or may become one.
    package var isInBlock: Bool { state != .text }

    /// Adds the next piece of the answer.
    /// - Returns: the newly visible text.
    package mutating func append(_ piece: String) -> String {
        guard !openings.isEmpty || hidesOthers else { return piece }
        var piece = piece
        return piece.withUTF8 { bytes in
            take(bytes)
            return visible.take()
        }
    }

    /// Ends the answer.
    /// - Returns: the last visible text, and all blocks in the order of the answer.
    package mutating func finish() -> (text: String, blocks: [ScannedBlock]) {
        switch state {
        case .text: break
        case .opening: held.withUnsafeBufferPointer { visible.append($0[...]) }
        case .payload: endBlock(isComplete: false)
        case .closing: endBlock(isComplete: true)
        }
        state = .text
        held = []
        return (visible.finish(), blocks)
    }

    // MARK: - States

    private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        var index = 0
        while index < bytes.count {
            switch state {
            case .text: index = readText(bytes, from: index)
            case .opening: index = readOpening(bytes, from: index)
            case .payload: index = readPayload(bytes, from: index)
            case .closing: index = readClosing(bytes, from: index)
            }
        }
    }

    private mutating func readText(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            if fence.isIdle {
                if fence.isOpen {
                    while index < bytes.count, bytes[index] != 0x0A { index += 1 }
                } else {
                    while index < bytes.count, bytes[index] != 0x5B, bytes[index] != 0x0A { index += 1 }
                }
                guard index < bytes.count else { break }
            }
            let byte = bytes[index]
            if byte == 0x5B, !fence.isOpen, mayBegin(bytes, at: index) {
                visible.append(bytes[start..<index])
                held.removeAll(keepingCapacity: true)
                fitting = .max
                mayBeOther = hidesOthers
                state = .opening
                return index
            }
            fence.take(byte)
            index += 1
        }
        visible.append(bytes[start..<index])
        return index
    }

    /// Whether the bytes from a bracket on are the beginning of an opening, as far as the piece goes.
    private func mayBegin(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        guard start + 1 < bytes.count else { return true }
        if hidesOthers, bytes[start + 1].isOfTag { return true }
        guard seconds[Int(bytes[start + 1])] else { return false }
        return openings.contains { opening in
            let count = min(opening.bytes.count, bytes.count - start)
            for offset in 2..<max(count, 2) where opening.bytes[offset] != bytes[start + offset] { return false }
            return opening.bytes[1] == bytes[start + 1]
        }
    }

    private mutating func readOpening(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if held.last == 0x3A || held.last?.isBlockSpace == true {
                // The tag is complete.
                if byte == 0x7B {
                    fence.take(byte)
                    beginPayload()
                    return index
                }
                guard byte.isBlockSpace, held.count < 256 else { break }
            } else {
                keepFitting(byte)
                guard fitting != 0 || mayBeOther else { break }
            }
            fence.take(byte)
            held.append(byte)
            index += 1
        }
        guard index < bytes.count else { return index }
        held.withUnsafeBufferPointer { visible.append($0[...]) }
        held.removeAll(keepingCapacity: true)
        state = .text
        return index
    }

    /// Drops the openings that do not continue with the byte.
    private mutating func keepFitting(_ byte: UInt8) {
        var rest: UInt64 = 0
        for (number, opening) in openings.enumerated() where fitting & 1 << UInt64(number) != 0 {
            if held.count < opening.bytes.count, opening.bytes[held.count] == byte { rest |= 1 << UInt64(number) }
        }
        fitting = rest
        mayBeOther =
            mayBeOther && (held.isEmpty || byte.isOfTag && held.count <= 64 || byte == 0x3A && isActionHeld)
    }

    /// Whether the held bytes are a bracket and the tag of some action.
    private var isActionHeld: Bool {
        let name = String(decoding: held.dropFirst(), as: UTF8.self)
        return ["_ACTION", "_SEARCH"].contains { name.hasSuffix($0) && name.utf8.count > $0.utf8.count }
    }

    private mutating func beginPayload() {
        let name = held.drop { $0 != 0x5B }.dropFirst().prefix { $0 != 0x3A }
        tag =
            openings.first { $0.bytes.dropFirst().dropLast().elementsEqual(name) }?.tag
            ?? ActionTag(rawValue: String(decoding: name, as: UTF8.self))
        held.removeAll(keepingCapacity: true)
        payload = []
        object = ObjectEnd()
        visible.hideBlock()
        state = .payload
    }

    private mutating func readPayload(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        var end = ObjectEnd.Progress.inside
        while index < bytes.count, end == .inside {
            end = object.take(bytes[index])
            index += 1
        }
        let last = end == .broken ? index - 1 : index
        let room = max(0, Self.maximumPayload + 1 - payload.count)
        payload.append(contentsOf: bytes[start..<last].prefix(room))
        switch end {
        case .inside: break
        case .ended: state = .closing
        case .broken:
            endBlock(isComplete: false)
            state = .text
        }
        return index
    }

    private mutating func readClosing(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        for index in start..<bytes.count {
            switch bytes[index] {
            case 0x5D:
                endBlock(isComplete: true)
                state = .text
                return index + 1
            // Models that lose count close an object twice.
            case 0x7D: continue
            case let byte where byte.isBlockSpace: visible.append(bytes[index...index])
            default:
                endBlock(isComplete: true)
                state = .text
                return index
            }
        }
        return bytes.count
    }

    private mutating func endBlock(isComplete: Bool) {
        guard let tag else { return }
        blocks.append(
            ScannedBlock(
                tag: tag, payload: String(decoding: payload.prefix(Self.maximumPayload), as: UTF8.self),
                index: blocks.count, isComplete: isComplete && payload.count <= Self.maximumPayload,
                isOffered: openings.contains { $0.tag == tag }))
        payload = []
        self.tag = nil
    }
}

extension ActionTag {
    /// Whether the tag has only upper-case letters, digits and underscores.
    package var isUsable: Bool {
        !rawValue.isEmpty && rawValue.utf8.count <= 64 && rawValue.utf8.allSatisfy(\.isOfTag)
    }
}

extension UInt8 {
    /// Whether the byte may be in a tag: an upper-case letter, a digit or an underscore.
    fileprivate var isOfTag: Bool {
        (0x41...0x5A).contains(self) || (0x30...0x39).contains(self) || self == 0x5F
    }

    /// Whether the byte is white space of JSON: space, tab, line feed, carriage return.
    var isBlockSpace: Bool { self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D }
}
