/// Matches a text with a grammar, byte by byte (Earley, "An efficient context-free parsing algorithm", CACM 13/2,
/// 1970).
///
/// No grammar makes this algorithm loop or grow exponentially: the time for a character is at most quadratic in the
/// text before it, and linear for usual grammars. Beyond a limit of work the matcher stops and reports it.
package struct GrammarMatcher: Sendable {
    /// A place in an alternative, and the place in the text where its rule began.
    private struct Item: Hashable, Sendable {
        let place: Int32
        let origin: Int32
        /// The finished rounds of a repetition, or the state of a machine of texts.
        var extra: UInt64 = 0
    }

    /// The most steps for one character, far more than usual grammars need.
    private static let maximumWork = 200_000
    /// The most items in total.
    private static let maximumItems = 1 << 22

    private let grammar: Grammar
    /// The items after each character; the sets follow one another.
    private var items: [Item] = []
    /// The beginning of each set.
    private var starts: [Int] = []
    /// The characters of the text, and the keys or items before a place in it.
    private var text = MatchedText()
    private var seen: Set<Item> = []
    /// For large sets, the places of the items that wait for each rule.
    private var indexes: [Int: [Int: [Int]]] = [:]
    private static let smallSet = 48
    private var work = 0
    /// Whether the last character made a key or an item that equals one before it.
    private var isRepeated = false
    /// The incomplete last character: its bits so far, and the number of missing bytes.
    private var partial = Partial()
    /// The number of characters that needed more than ``maximumWork``. Such a character is refused; another one may
    /// fit.
    private var exhaustions = 0
    /// The number of such characters after which all characters are refused.
    private static let maximumExhaustions = 16
    /// Whether the grammar needed too much work; all further characters are refused.
    package var isExhausted: Bool { exhaustions >= Self.maximumExhaustions }

    fileprivate struct Partial: Sendable, Hashable {
        var bits: UInt32 = 0
        var missing = 0
        var length = 1
    }

    /// Makes a matcher at the beginning of a text.
    package init(_ grammar: Grammar) {
        self.grammar = grammar
        reset()
    }

    /// Returns to the beginning of the text.
    package mutating func reset() {
        items.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        text.cut(to: 0)
        indexes.removeAll()
        partial = Partial()
        begin()
        for place in grammar.alternatives[grammar.root] { add(place, 0) }
        close()
    }

    /// Whether the text may end here.
    package var isComplete: Bool {
        partial.missing == 0 && !isExhausted && mayEnd
    }

    /// Whether no character may follow.
    package var isClosed: Bool {
        partial.missing == 0 && !mayGrow
    }

    /// Adds all bytes, or none if they do not fit.
    /// - Returns: whether they fit.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> Bool {
        let start = mark
        for byte in bytes where !take(byte) {
            rollBack(to: start)
            return false
        }
        return true
    }

    /// A state to return to.
    struct Mark {
        fileprivate let sets: Int
        fileprivate let partial: Partial
    }

    var mark: Mark { Mark(sets: starts.count, partial: partial) }

    mutating func rollBack(to mark: Mark) {
        if mark.sets < starts.count {
            items.removeSubrange(starts[mark.sets]...)
            starts.removeSubrange(mark.sets...)
            text.cut(to: mark.sets - 1)
            if !indexes.isEmpty { indexes = indexes.filter { $0.key < mark.sets } }
        }
        partial = mark.partial
    }

    /// Adds a byte; one that does not fit changes nothing.
    mutating func take(_ byte: UInt8) -> Bool {
        if isExhausted { return false }
        var next = partial
        if next.missing > 0 {
            guard byte & 0xC0 == 0x80 else { return false }
            next.bits = next.bits << 6 | UInt32(byte & 0x3F)
            next.missing -= 1
        } else {
            switch byte {
            case 0x00...0x7F: next = Partial(bits: UInt32(byte), missing: 0, length: 1)
            case 0xC2...0xDF: next = Partial(bits: UInt32(byte & 0x1F), missing: 1, length: 2)
            case 0xE0...0xEF: next = Partial(bits: UInt32(byte & 0x0F), missing: 2, length: 3)
            case 0xF0...0xF4: next = Partial(bits: UInt32(byte & 0x07), missing: 3, length: 4)
            default: return false
            }
        }
        guard let values = Self.values(next) else { return false }
        if next.missing > 0 {
            // At least one character with this beginning must fit.
            guard expects(values) else { return false }
        } else {
            guard step(values.lowerBound) else { return false }
        }
        partial = next
        return true
    }

    /// The characters that begin with these bits, without overlong forms.
    private static func values(_ partial: Partial) -> ClosedRange<UInt32>? {
        let shift = UInt32(6 * partial.missing)
        let smallest: UInt32 = [0, 0, 0x80, 0x800, 0x1_0000][partial.length]
        let low = max(partial.bits << shift, smallest)
        let high = min(partial.bits << shift | (1 << shift - 1), 0x10FFFF)
        if partial.missing == 0, (0xD800...0xDFFF).contains(partial.bits) { return nil }
        return low <= high ? low...high : nil
    }

    // MARK: Sets

    private var current: ArraySlice<Item> { items[(starts.last ?? 0)...] }

    private var mayEnd: Bool {
        current.contains { $0.origin == 0 && grammar.elements[Int($0.place)] == .end(grammar.root) }
    }

    private var mayGrow: Bool {
        current.contains { item in
            switch grammar.elements[Int(item.place)] {
            case .characters: true
            case .text(let number): grammar.texts[number].canGrow(item.extra)
            default: false
            }
        }
    }

    private func expects(_ values: ClosedRange<UInt32>) -> Bool {
        current.contains { item in
            switch grammar.elements[Int(item.place)] {
            case .characters(let set): grammar.classes[set].overlaps(values)
            case .text(let number): grammar.texts[number].takesAny(of: values, item.extra)
            default: false
            }
        }
    }

    /// Makes the set after one more character.
    private mutating func step(_ value: UInt32) -> Bool {
        let previous = (starts.last ?? 0)..<items.count
        begin()
        for index in previous {
            let item = items[index]
            switch grammar.elements[Int(item.place)] {
            case .characters(let set):
                if grammar.classes[set].contains(value) { add(Int(item.place) + 1, item.origin) }
            case .text(let number):
                if let extra = grammar.texts[number].step(item.extra, value) {
                    add(Int(item.place), item.origin, extra)
                }
            default: break
            }
        }
        text.append(value)
        let before = exhaustions
        close()
        // A key or an item that equals one before it, and cannot become longer, is a dead end.
        let isDead = isRepeated && !mayGrow && !mayEnd
        if exhaustions > before || items.count == previous.upperBound || isDead {
            items.removeSubrange(previous.upperBound...)
            starts.removeLast()
            text.cut(to: starts.count - 1)
            return false
        }
        return true
    }

    private mutating func begin() {
        starts.append(items.count)
        seen.removeAll(keepingCapacity: true)
        work = 0
        isRepeated = false
    }

    private mutating func add(_ place: Int, _ origin: Int32, _ extra: UInt64 = 0) {
        let item = Item(place: Int32(place), origin: origin, extra: extra)
        work += 1
        if seen.insert(item).inserted { items.append(item) }
    }

    /// Adds the rules that begin and end at this point, and all items that follow from them.
    private mutating func close() {
        let number = starts.count - 1
        let here = Int32(number)
        var index = starts[number]
        while index < items.count {
            guard work < Self.maximumWork, items.count < Self.maximumItems else {
                exhaustions += 1
                return
            }
            let item = items[index]
            index += 1
            switch grammar.elements[Int(item.place)] {
            case .characters: break
            case .text(let number):
                if grammar.texts[number].mayEnd(item.extra) { add(Int(item.place) + 1, item.origin) }
            case .fresh(let twins):
                if text.isFresh(from: Int(item.origin), among: twins) {
                    add(Int(item.place) + 1, item.origin)
                } else {
                    isRepeated = true
                }
            case .counted(let number):
                let count = grammar.counts[number]
                if item.extra >= UInt64(count.low) { add(Int(item.place) + 1, item.origin) }
                if item.extra < UInt64(count.high) {
                    for place in grammar.alternatives[count.rule] { add(place, here) }
                }
            case .rule(let rule):
                for place in grammar.alternatives[rule] { add(place, here) }
                // An empty rule ends at its beginning (Aycock and Horspool, "Practical Earley parsing", 2002).
                if grammar.isNullable[rule] { add(Int(item.place) + 1, item.origin) }
            case .end(let rule):
                // An empty rule was completed at its beginning, because an item that waits for it may be added later.
                if item.origin == here { break }
                let begin = starts[Int(item.origin)]
                let end = starts[Int(item.origin) + 1]
                for waiting in waiters(for: rule, in: begin..<end, set: Int(item.origin)) {
                    switch grammar.elements[Int(waiting.place)] {
                    case .rule: add(Int(waiting.place) + 1, waiting.origin)
                    case .counted(let number) where waiting.extra < UInt64(grammar.counts[number].high):
                        // Rounds beyond the highest number that matters are not told apart.
                        let count = grammar.counts[number]
                        let rounds =
                            count.high == Int.max ? min(waiting.extra + 1, UInt64(count.low)) : waiting.extra + 1
                        add(Int(waiting.place), waiting.origin, rounds)
                    default: break
                    }
                }
            }
        }
    }

    /// The items of a finished set that wait for a rule. A large set is indexed once, because many rules may end in it.
    private mutating func waiters(for rule: Int, in range: Range<Int>, set: Int) -> [Item] {
        func awaited(_ item: Item) -> Int? {
            switch grammar.elements[Int(item.place)] {
            case .rule(let rule): rule
            case .counted(let number): grammar.counts[number].rule
            default: nil
            }
        }
        guard range.count > Self.smallSet else {
            work += range.count
            return items[range].filter { awaited($0) == rule }
        }
        if indexes[set] == nil {
            work += range.count
            indexes[set] = Dictionary(grouping: range.filter { awaited(items[$0]) != nil }) { awaited(items[$0]) ?? 0 }
        }
        return (indexes[set]?[rule] ?? []).map { items[$0] }
    }
}
