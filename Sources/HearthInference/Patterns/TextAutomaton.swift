/// A deterministic automaton of texts: each state says which characters may follow, and whether the text may end. Only
/// states from which an end can be reached are kept.
struct TextAutomaton: Sendable, Hashable {
    /// The first characters of the intervals that all states tell apart.
    let bounds: [UInt32]
    /// The symbol of each interval.
    let symbols: [Int32]
    let symbolCount: Int
    /// The next state by state and symbol; -1 for none.
    let next: [Int32]
    let accepting: [Bool]
    /// The state of the empty text.
    var start: Int { 0 }
    /// The fewest characters from each state to an end.
    let shortest: [Int32]
    /// The most characters from each state to an end; ``unlimited`` for any number.
    let longest: [Int32]

    static let unlimited = Int32.max
    /// The most states of an automaton.
    static let maximumStates = 12_000

    /// The most entries of an automaton's table, whose rows are states and whose columns are symbols.
    static let maximumEntries = 1_000_000

    /// The work of a combination with this automaton, about that of as many states with few symbols.
    var size: Int { max(accepting.count, next.count / 64) }

    /// Too many states.
    struct TooLarge: Error {}

    /// All texts.
    static let anything = TextAutomaton(
        bounds: [0, 0xD800, 0xE000], symbols: [0, 1, 0], symbolCount: 2, next: [0, -1], accepting: [true])

    /// Makes an automaton and drops the states from which no end can be reached.
    init(bounds: [UInt32], symbols: [Int32], symbolCount: Int, next: [Int32], accepting: [Bool]) {
        self.bounds = bounds
        self.symbols = symbols
        self.symbolCount = symbolCount
        self.accepting = accepting
        let count = accepting.count
        // No character has a symbol without an interval.
        let used = Set(symbols)
        var next = next
        for symbol in 0..<symbolCount where !used.contains(Int32(symbol)) {
            for state in 0..<count { next[state * symbolCount + symbol] = -1 }
        }
        var sources = [[Int32]](repeating: [], count: count)
        for state in 0..<count {
            for symbol in 0..<symbolCount {
                let target = next[state * symbolCount + symbol]
                if target >= 0, sources[Int(target)].last != Int32(state) {
                    sources[Int(target)].append(Int32(state))
                }
            }
        }
        var distance = [Int32](repeating: Self.unlimited, count: count)
        var queue = (0..<count).filter { accepting[$0] }
        for state in queue { distance[state] = 0 }
        var head = 0
        while head < queue.count {
            let state = queue[head]
            head += 1
            for source in sources[state] where distance[Int(source)] == Self.unlimited {
                distance[Int(source)] = distance[state] + 1
                queue.append(Int(source))
            }
        }
        shortest = distance
        let kept = next.map { $0 >= 0 && distance[Int($0)] == Self.unlimited ? -1 : $0 }
        self.next = kept
        longest = Self.longest(kept, accepting, symbolCount, alive: distance.map { $0 != Self.unlimited }, sources)
    }

    /// The most characters to an end: states are finished when all that follow them are; the rest is on a circle.
    private static func longest(
        _ next: [Int32], _ accepting: [Bool], _ symbolCount: Int, alive: [Bool], _ sources: [[Int32]]
    ) -> [Int32] {
        let count = accepting.count
        var open = [Int32](repeating: 0, count: count)
        for (state, into) in sources.enumerated() where alive[state] {
            for source in into where alive[Int(source)] { open[Int(source)] += 1 }
        }
        var result = [Int32](repeating: unlimited, count: count)
        var ready = (0..<count).filter { alive[$0] && open[$0] == 0 }
        for state in ready { result[state] = 0 }
        while let state = ready.popLast() {
            for source in sources[state] where alive[Int(source)] {
                open[Int(source)] -= 1
                guard open[Int(source)] == 0 else { continue }
                let row = next[Int(source) * symbolCount..<(Int(source) + 1) * symbolCount]
                result[Int(source)] = (row.lazy.filter { $0 >= 0 }.map { result[Int($0)] }.max() ?? -1) + 1
                ready.append(Int(source))
            }
        }
        return result
    }

    /// Whether no text fits.
    var isEmpty: Bool { shortest[start] == Self.unlimited }

    /// The interval of a character.
    func interval(of value: UInt32) -> Int {
        var (low, high) = (0, bounds.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if bounds[middle] <= value { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// The state after a character; -1 for none.
    func step(_ state: Int, _ value: UInt32) -> Int {
        Int(next[state * symbolCount + Int(symbols[interval(of: value)])])
    }

    /// Whether the whole text fits.
    func matches(_ text: some Sequence<Unicode.Scalar>) -> Bool {
        var state = start
        for scalar in text {
            state = step(state, scalar.value)
            if state < 0 { return false }
        }
        return accepting[state]
    }

    // MARK: Combinations

    /// The texts that fit both.
    /// - Throws: ``TooLarge``.
    func intersection(_ other: TextAutomaton) throws(TooLarge) -> TextAutomaton {
        if self == .anything { return other }
        if other == .anything { return self }
        let bounds = Array(Set(bounds + other.bounds)).sorted()
        var numbers: [SIMD2<Int32>: Int32] = [:]
        var pairs: [SIMD2<Int32>] = []
        let symbols = bounds.map { bound -> Int32 in
            let pair = SIMD2(self.symbols[interval(of: bound)], other.symbols[other.interval(of: bound)])
            if let number = numbers[pair] { return number }
            numbers[pair] = Int32(pairs.count)
            pairs.append(pair)
            return Int32(pairs.count - 1)
        }
        var places = [SIMD2<Int32>(0, 0): Int32(0)]
        var states = [SIMD2<Int32>(0, 0)]
        var next: [Int32] = []
        var index = 0
        while index < states.count {
            let state = states[index]
            index += 1
            for pair in pairs {
                let left = self.next[Int(state.x) * symbolCount + Int(pair.x)]
                let right = other.next[Int(state.y) * other.symbolCount + Int(pair.y)]
                guard left >= 0, right >= 0 else {
                    next.append(-1)
                    continue
                }
                let target = SIMD2(left, right)
                if let place = places[target] {
                    next.append(place)
                } else {
                    guard states.count < Self.maximumStates, next.count < Self.maximumEntries else { throw TooLarge() }
                    places[target] = Int32(states.count)
                    next.append(Int32(states.count))
                    states.append(target)
                }
            }
        }
        return TextAutomaton(
            bounds: bounds, symbols: symbols, symbolCount: pairs.count, next: next,
            accepting: states.map { accepting[Int($0.x)] && other.accepting[Int($0.y)] })
    }

    /// The texts that do not fit.
    var complement: TextAutomaton {
        // Surrogates stay no characters: their symbol leads nowhere.
        let bounds = Array(Set(self.bounds + [0xD800, 0xE000])).sorted()
        let none = Int32(symbolCount)
        let symbols = bounds.map { (0xD800..<0xE000).contains($0) ? none : self.symbols[interval(of: $0)] }
        let sink = Int32(accepting.count)
        var next: [Int32] = []
        for state in 0...accepting.count {
            for symbol in 0..<symbolCount {
                let target = state < accepting.count ? self.next[state * symbolCount + symbol] : sink
                next.append(target < 0 ? sink : target)
            }
            next.append(-1)
        }
        return TextAutomaton(
            bounds: bounds, symbols: symbols, symbolCount: symbolCount + 1, next: next,
            accepting: accepting.map(!) + [true])
    }

    /// Exactly these texts.
    init(_ texts: some Sequence<String>) {
        var children: [[UInt32: Int]] = [[:]]
        var accepting = [false]
        var letters: Set<UInt32> = []
        for text in texts {
            var state = 0
            for scalar in text.unicodeScalars {
                letters.insert(scalar.value)
                if let child = children[state][scalar.value] {
                    state = child
                } else {
                    children[state][scalar.value] = children.count
                    state = children.count
                    children.append([:])
                    accepting.append(false)
                }
            }
            accepting[state] = true
        }
        let order = letters.sorted()
        var bounds: [UInt32] = [0]
        var symbols: [Int32] = [0]
        for (index, letter) in order.enumerated() {
            if bounds.last == letter {
                symbols[symbols.count - 1] = Int32(index + 1)
            } else {
                bounds.append(letter)
                symbols.append(Int32(index + 1))
            }
            if letter < 0x10FFFF {
                bounds.append(letter + 1)
                symbols.append(0)
            }
        }
        var next = [Int32](repeating: -1, count: children.count * (order.count + 1))
        for (state, row) in children.enumerated() {
            for (index, letter) in order.enumerated() {
                if let child = row[letter] { next[state * (order.count + 1) + index + 1] = Int32(child) }
            }
        }
        self.init(
            bounds: bounds, symbols: symbols, symbolCount: order.count + 1, next: next, accepting: accepting)
    }

    /// All texts that fit, if they are at most `limit`.
    func words(atMost limit: Int) -> [String]? {
        guard !isEmpty else { return [] }
        guard longest[start] <= 64 else { return nil }
        var words: [String] = []
        var steps = 0
        func visit(_ state: Int, _ text: String.UnicodeScalarView) -> Bool {
            steps += 1
            guard steps <= 64 * limit + 64 else { return false }
            if accepting[state] { words.append(String(text)) }
            for (index, low) in bounds.enumerated() {
                let target = Int(next[state * symbolCount + Int(symbols[index])])
                guard target >= 0 else { continue }
                let high = index + 1 < bounds.count ? bounds[index + 1] : 0x110000
                guard Int(high - low) + words.count <= limit else { return false }
                for value in low..<high {
                    guard let scalar = Unicode.Scalar(value) else { continue }
                    var longer = text
                    longer.append(scalar)
                    guard visit(target, longer) else { return false }
                }
            }
            return words.count <= limit
        }
        return visit(start, String.UnicodeScalarView()) ? words : nil
    }
}
