/// The content of a JSON string: the texts of an automaton whose length is within bounds, with the escapes of JSON.
///
/// A state says how many characters the text has, where the automaton is, and which part of an escape is read. No state
/// is entered from which the text cannot be finished.
struct TextMachine: Sendable, Hashable {
    let automaton: TextAutomaton
    let fewest: Int
    let most: Int?
    /// For each state, whether an end can be reached in exactly so many characters; empty if the texts are too long for
    /// the table.
    private let reach: [Bool]

    static let maximumLength = 1 << 24 - 1

    init(_ automaton: TextAutomaton, fewest: Int = 0, most: Int? = nil) {
        self.automaton = automaton
        self.fewest = min(fewest, Self.maximumLength)
        let most = most.map { min($0, Self.maximumLength) }
        self.most = most
        reach = most.map { Self.reach(automaton, $0) } ?? []
    }

    private static func reach(_ automaton: TextAutomaton, _ most: Int) -> [Bool] {
        let count = automaton.accepting.count
        guard automaton != .anything, count * automaton.symbolCount * (most + 1) <= 1 << 21 else { return [] }
        var table = [Bool](repeating: false, count: count * (most + 1))
        for state in 0..<count { table[state] = automaton.accepting[state] }
        for length in 1..<max(1, most + 1) {
            for state in 0..<count {
                let row = automaton.next[state * automaton.symbolCount..<(state + 1) * automaton.symbolCount]
                table[length * count + state] = row.contains { $0 >= 0 && table[(length - 1) * count + Int($0)] }
            }
        }
        return table
    }

    // MARK: States: 24 bits of length, 20 of the automaton, 16 of an escape's value, 4 of its part

    private static func packed(_ length: Int, _ state: Int, _ value: UInt32 = 0, _ phase: UInt64 = 0) -> UInt64 {
        UInt64(length) | UInt64(state) << 24 | UInt64(value) << 44 | phase << 60
    }

    private static func length(_ extra: UInt64) -> Int { Int(extra & 0xFF_FFFF) }
    private static func state(_ extra: UInt64) -> Int { Int(extra >> 24 & 0xF_FFFF) }

    /// Whether the text can be finished from a state of the automaton.
    private func isViable(_ state: Int, _ length: Int) -> Bool {
        let shortest = automaton.shortest[state], longest = automaton.longest[state]
        guard shortest != TextAutomaton.unlimited else { return false }
        guard longest == TextAutomaton.unlimited || length + Int(longest) >= fewest else { return false }
        guard let most else { return true }
        guard length + Int(shortest) <= most else { return false }
        if reach.isEmpty { return true }
        let count = automaton.accepting.count
        return (max(0, fewest - length)...max(fewest - length, most - length, 0)).contains { reach[$0 * count + state] }
    }

    /// Whether no text fits.
    var isEmpty: Bool { fewest > most ?? Int.max || !isViable(0, 0) }

    var holdsEmptyText: Bool { mayEnd(0) }

    /// Whether the text may end in a state.
    func mayEnd(_ extra: UInt64) -> Bool {
        extra >> 60 == 0 && automaton.accepting[Self.state(extra)] && Self.length(extra) >= fewest
    }

    /// Whether the text may go on in a state.
    func canGrow(_ extra: UInt64) -> Bool {
        if extra >> 60 != 0 { return true }
        let state = Self.state(extra), length = Self.length(extra)
        let row = automaton.next[state * automaton.symbolCount..<(state + 1) * automaton.symbolCount]
        return row.contains { $0 >= 0 && isViable(Int($0), length + 1) }
    }

    /// Whether one of these characters, which need no escape, may follow.
    func takesAny(of values: ClosedRange<UInt32>, _ extra: UInt64) -> Bool { extra >> 60 == 0 && allows(values, extra) }

    private func allows(_ values: ClosedRange<UInt32>, _ extra: UInt64) -> Bool {
        let state = Self.state(extra), length = Self.length(extra)
        var interval = automaton.interval(of: values.lowerBound)
        while interval < automaton.bounds.count, automaton.bounds[interval] <= values.upperBound {
            let target = automaton.next[state * automaton.symbolCount + Int(automaton.symbols[interval])]
            if target >= 0, isViable(Int(target), length + 1) { return true }
            interval += 1
        }
        return false
    }

    /// The state after a character of the text's content; `nil` if it does not fit.
    private func advance(_ extra: UInt64, _ value: UInt32) -> UInt64? {
        let target = automaton.step(Self.state(extra), value)
        let length = Self.length(extra) + 1
        guard target >= 0, isViable(target, length) else { return nil }
        // Without a highest length, only the lowest one matters.
        return Self.packed(most == nil ? min(length, fewest) : length, target)
    }

    // MARK: Escapes

    /// The state after a character of the JSON text; `nil` if it does not fit.
    func step(_ extra: UInt64, _ value: UInt32) -> UInt64? {
        let phase = extra >> 60
        switch phase {
        case 0:
            if value == 0x5C { return canGrow(extra) ? part(extra, 0, 1) : nil }
            return value < 0x20 || value == 0x22 || value == 0x7F ? nil : advance(extra, value)
        case 1: return escape(extra, value)
        case 6: return value == 0x5C ? part(extra, self.value(extra), 7) : nil
        case 7: return value == 0x75 ? part(extra, self.value(extra), 8) : nil
        case 8: return value | 0x20 == 0x64 ? part(extra, self.value(extra), 9) : nil
        default: break
        }
        guard let digit = Self.digit(value) else { return nil }
        switch phase {
        case 2...5: return first(extra, self.value(extra) << 4 | digit, phase)
        case 9:
            guard digit >= 12 else { return nil }
            return second(extra, self.value(extra) << 2 | (digit - 12), 8, 10)
        case 10: return second(extra, self.value(extra) << 4 | digit, 4, 11)
        default: return advance(part(extra, 0, 0), 0x10000 + (self.value(extra) << 4 | digit))
        }
    }

    private func value(_ extra: UInt64) -> UInt32 { UInt32(extra >> 44 & 0xFFFF) }

    private func part(_ extra: UInt64, _ value: UInt32, _ phase: UInt64) -> UInt64 {
        Self.packed(Self.length(extra), Self.state(extra), value, phase)
    }

    private func escape(_ extra: UInt64, _ value: UInt32) -> UInt64? {
        let plain = part(extra, 0, 0)
        switch value {
        case 0x22, 0x5C: return advance(plain, value)
        case 0x62: return advance(plain, 0x08)
        case 0x66: return advance(plain, 0x0C)
        case 0x6E: return advance(plain, 0x0A)
        case 0x72: return advance(plain, 0x0D)
        case 0x74: return advance(plain, 0x09)
        case 0x75: return part(extra, 0, 2)
        default: return nil
        }
    }

    /// A digit of `\uXXXX`. The first half of a surrogate pair waits for the second.
    private func first(_ extra: UInt64, _ value: UInt32, _ phase: UInt64) -> UInt64? {
        let bits = (5 - UInt32(phase)) * 4
        let low = value << bits, high = low + (1 << bits) - 1
        let plain = part(extra, 0, 0)
        if phase == 5 {
            guard (0xD800...0xDBFF).contains(value) else {
                return (0xDC00...0xDFFF).contains(value) ? nil : advance(plain, value)
            }
            let number = value - 0xD800
            let start = 0x10000 + number << 10
            return allows(start...start + 0x3FF, plain) ? part(extra, number, 6) : nil
        }
        var isPossible = low <= 0xD7FF && allows(low...min(high, 0xD7FF), plain)
        if high >= 0xE000 { isPossible = isPossible || allows(max(low, 0xE000)...high, plain) }
        if low <= 0xDBFF, high >= 0xD800 {
            let start = 0x10000 + (max(low, 0xD800) - 0xD800) << 10
            isPossible = isPossible || allows(start...0x10000 + (min(high, 0xDBFF) - 0xD800) << 10 + 0x3FF, plain)
        }
        return isPossible ? part(extra, value, phase + 1) : nil
    }

    /// A digit of the second half of a pair.
    private func second(_ extra: UInt64, _ value: UInt32, _ bits: UInt32, _ phase: UInt64) -> UInt64? {
        let start = 0x10000 + value << bits
        return allows(start...start + (1 << bits) - 1, part(extra, 0, 0)) ? part(extra, value, phase) : nil
    }

    private static func digit(_ value: UInt32) -> UInt32? {
        switch value {
        case 0x30...0x39: value - 0x30
        case 0x41...0x46: value - 0x37
        case 0x61...0x66: value - 0x57
        default: nil
        }
    }
}
