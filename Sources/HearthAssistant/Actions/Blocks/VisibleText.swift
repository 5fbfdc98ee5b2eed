/// Collects the visible text of an answer and joins the white space around hidden blocks.
///
/// White space at the end is held until the next visible byte, since a block may follow it.
struct VisibleText: Sendable {
    /// The text that is ready.
    private var ready: [UInt8] = []
    /// The white space after the last visible byte, as written.
    private var space: [UInt8] = []
    /// Whether a block was hidden in the white space, or beside it.
    private var hidesBlock = false
    /// The most line breaks in a part of the white space beside a hidden block.
    private var breaks = 0
    private var hasShown = false

    /// Adds visible bytes.
    mutating func append(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        var first = bytes.startIndex
        if hidesBlock || !space.isEmpty {
            while first < bytes.endIndex, bytes[first].isBlockSpace { first += 1 }
            space.append(contentsOf: bytes[bytes.startIndex..<first])
            guard first < bytes.endIndex else { return }
            showSpace(before: bytes[first])
        }
        var last = bytes.endIndex
        while last > first, bytes[last - 1].isBlockSpace { last -= 1 }
        if last > first { hasShown = true }
        ready.append(contentsOf: bytes[first..<last])
        space.append(contentsOf: bytes[last...])
    }

    /// Notes that a block is hidden here.
    mutating func hideBlock() {
        breaks = max(breaks, Self.breaks(in: space))
        // One byte remembers that there was white space.
        space = space.isEmpty ? [] : [0x20]
        hidesBlock = true
    }

    /// The text since the last call.
    mutating func take() -> String {
        guard !ready.isEmpty else { return "" }
        defer { ready.removeAll(keepingCapacity: true) }
        return String(decoding: ready, as: UTF8.self)
    }

    /// The last text. White space beside a hidden block is dropped at the end of the answer.
    mutating func finish() -> String {
        if !hidesBlock { ready.append(contentsOf: space) }
        space = []
        hidesBlock = false
        return take()
    }

    private mutating func showSpace(before byte: UInt8) {
        defer {
            space.removeAll(keepingCapacity: true)
            hidesBlock = false
            breaks = 0
        }
        guard hidesBlock else { return ready.append(contentsOf: space) }
        guard hasShown else { return }
        let breaks = min(2, max(breaks, Self.breaks(in: space)))
        if breaks > 0 {
            ready.append(contentsOf: repeatElement(0x0A, count: breaks))
            // The indentation of the next line belongs to its text.
            if let line = space.lastIndex(of: 0x0A) { ready.append(contentsOf: space[(line + 1)...]) }
        } else if !space.isEmpty, !Self.endsClause(byte) {
            ready.append(0x20)
        }
    }

    private static func breaks(in space: [UInt8]) -> Int { space.count { $0 == 0x0A } }

    /// Whether the byte follows a word without a space: `.`, `,`, `;`, `:`, `!`, `?`, `)`.
    private static func endsClause(_ byte: UInt8) -> Bool {
        [0x2E, 0x2C, 0x3B, 0x3A, 0x21, 0x3F, 0x29].contains(byte)
    }
}
