/// Automata of regular expressions.
extension TextAutomaton {
    /// How the classes of an expression are read.
    enum Reading {
        /// As in ECMAScript.
        case exact
        /// Only what every dialect accepts.
        case narrow

        func characters(of set: PatternSet, isWide: Bool) -> CharacterRanges {
            switch self {
            case .exact: set.exact
            case .narrow: isWide ? set.wide : set.narrow
            }
        }
    }

    /// The texts in which an expression matches.
    /// - Returns: the automaton, and whether it accepts more than the expression does.
    /// - Throws: ``TooLarge``.
    static func searching(
        _ node: PatternNode, _ reading: Reading
    ) throws(TooLarge) -> (automaton: TextAutomaton, isLoosened: Bool) {
        let built = try PatternAutomaton(
            node, reading: reading, isWide: false, beginsFreely: true, endsFreely: true, level: 0)
        return (built.automaton, built.isLoosened)
    }
}

/// The subset construction over ``PatternStates``. Look-aheads run beside the expression as automata that must accept;
/// look-behinds run from the beginning of the text.
private struct PatternAutomaton {
    /// What precedes a place.
    enum Context: Int32, CaseIterable { case start, word, other }

    /// A state of the expression, with the look-aheads begun before it: pairs of a look and its state.
    private struct Thread: Hashable, Comparable {
        var state: Int32
        var duties: [SIMD2<Int32>] = []

        static func < (left: Thread, right: Thread) -> Bool {
            if left.state != right.state { return left.state < right.state }
            return left.duties.lexicographicallyPrecedes(right.duties) { ($0.x, $0.y) < ($1.x, $1.y) }
        }
    }

    private struct State: Hashable {
        var threads: [Thread]
        var context: Context
        /// The states of the look-behinds.
        var behind: [Int32]
    }

    private enum Following { case word, other, end }

    private let states: PatternStates
    private let reading: TextAutomaton.Reading
    private let isWide: Bool
    private var looks: [PatternAutomaton] = []
    private(set) var isLoosened: Bool
    /// The classes of characters that all parts tell apart.
    private let alphabet: PatternAlphabet
    private var samples: [UInt32] { alphabet.samples }
    private var isWord: [Bool] = []
    private var next: [Int32] = []
    private var accepting: [Bool] = []
    private var entries: [Context: Int32] = [:]
    /// For each state, whether all texts, or none, lead to acceptance.
    private var acceptsAll: [Bool] = []
    private var acceptsNone: [Bool] = []
    /// Whether states tell whether a word character precedes them.
    private let tracksWords: Bool
    private let endsFreely: Bool
    private var work = 0
    /// The most steps of a construction with its conditions: about a tenth of a second.
    private static let maximumWork = 120_000
    private static let maximumThreads = 2_000

    init(
        _ node: PatternNode, reading: TextAutomaton.Reading, isWide: Bool, beginsFreely: Bool, endsFreely: Bool,
        level: Int, work: Int = 0, alphabet: PatternAlphabet? = nil
    ) throws(TextAutomaton.TooLarge) {
        guard level < 8 else { throw TextAutomaton.TooLarge() }
        tracksWords = Self.hasBoundary(node)
        self.endsFreely = endsFreely
        states = try PatternStates(node, beginsFreely: beginsFreely, endsFreely: endsFreely)
        self.reading = reading
        self.work = work
        self.isWide = isWide
        isLoosened = states.isLoosened
        if let alphabet {
            self.alphabet = alphabet
        } else {
            self.alphabet = try PatternAlphabet(node, reading, isWide, maximumWork: Self.maximumWork)
        }
        let word = PatternSet.word.exact
        isWord = self.alphabet.samples.map(word.contains)
        for look in states.looks {
            // The beginning of the text, and what follows the place, are known outside of other conditions only.
            if !look.isAhead, level > 0 || Self.hasBoundary(look.node) || Self.hasEnd(look.node) {
                throw TextAutomaton.TooLarge()
            }
            let made = try PatternAutomaton(
                look.node, reading: reading, isWide: look.isNegated != isWide, beginsFreely: !look.isAhead,
                endsFreely: look.isAhead, level: level + 1, work: self.work, alphabet: self.alphabet)
            // The work of all conditions counts together.
            self.work = made.work
            isLoosened = isLoosened || made.isLoosened
            // A loosened condition that excludes would exclude too much.
            if made.states.isLoosened, look.isNegated { throw TextAutomaton.TooLarge() }
            looks.append(made)
        }
        try build()
    }

    /// The automaton at the beginning of a text, whose state is the first one.
    var automaton: TextAutomaton {
        TextAutomaton(
            bounds: alphabet.bounds, symbols: alphabet.symbols, symbolCount: samples.count, next: next,
            accepting: accepting)
    }

    private static func hasBoundary(_ node: PatternNode) -> Bool {
        contains(node) { if case .boundary = $0 { true } else { false } }
    }

    private static func hasEnd(_ node: PatternNode) -> Bool {
        contains(node) { if case .end = $0 { true } else { false } }
    }

    private static func contains(_ node: PatternNode, _ isWanted: (PatternNode) -> Bool) -> Bool {
        if isWanted(node) { return true }
        return switch node {
        case .sequence(let items), .alternatives(let items): items.contains { contains($0, isWanted) }
        case .group(let item, _), .repeated(let item, _, _, _), .look(let item, _, _): contains(item, isWanted)
        case .empty, .set, .begin, .end, .boundary, .reference: false
        }
    }

    // MARK: Construction

    private mutating func build() throws(TextAutomaton.TooLarge) {
        var numbers: [State: Int32] = [:]
        var queue: [State] = []
        let usesBehind = states.looks.contains { !$0.isAhead }
        func number(_ state: State) throws(TextAutomaton.TooLarge) -> Int32 {
            if let number = numbers[state] { return number }
            guard queue.count < TextAutomaton.maximumStates else { throw TextAutomaton.TooLarge() }
            numbers[state] = Int32(queue.count)
            queue.append(state)
            return Int32(queue.count - 1)
        }
        for context in Context.allCases {
            let behind = looks.map { $0.entries[context] ?? -1 }
            let state = State(
                threads: [Thread(state: Int32(states.start))], context: context, behind: usesBehind ? behind : [])
            entries[context] = try number(state)
        }
        let fitting = try fittingSymbols()
        var index = 0
        while index < queue.count {
            let state = queue[index]
            index += 1
            accepting.append(try closure(state, .end).contains { accepts($0) })
            let word = states.hasBoundaries ? try closure(state, .word) : []
            let other = try closure(state, .other)
            var reached = [Set<Thread>](repeating: [], count: samples.count)
            try move(other, fitting, &reached, before: states.hasBoundaries ? .other : nil)
            try move(word, fitting, &reached, before: .word)
            work += 1 + samples.count * (1 + state.behind.count) / 8
            for symbol in samples.indices {
                var threads = reached[symbol]
                guard work <= Self.maximumWork, threads.count <= Self.maximumThreads else {
                    throw TextAutomaton.TooLarge()
                }
                guard !threads.isEmpty else {
                    next.append(-1)
                    continue
                }
                // After a match any text may follow.
                let done = Thread(state: Int32(states.end))
                if endsFreely, threads.contains(done) { threads = [done] }
                let behind = state.behind.indices.map { look in
                    state.behind[look] < 0
                        ? -1 : looks[look].next[Int(state.behind[look]) * samples.count + symbol]
                }
                let target = State(
                    threads: threads.sorted(),
                    context: tracksWords && isWord[symbol] ? .word : .other,
                    behind: behind)
                next.append(try number(target))
            }
        }
        classify()
    }

    /// For each state and each of its edges with characters: the state behind it and the symbols that fit.
    private mutating func fittingSymbols() throws(TextAutomaton.TooLarge) -> [[(to: Int, symbols: [Int])]] {
        var known: [PatternSet: [Int]] = [:]
        var result: [[(to: Int, symbols: [Int])]] = []
        for edges in states.edges {
            var row: [(to: Int, symbols: [Int])] = []
            for case .set(let set, let to) in edges {
                if let found = known[set] {
                    row.append((to, found))
                    continue
                }
                work += 1 + samples.count / 8
                guard work <= Self.maximumWork else { throw TextAutomaton.TooLarge() }
                let ranges = reading.characters(of: set, isWide: isWide)
                let found = samples.indices.filter {
                    ranges.contains(samples[$0]) && !(0xD800..<0xE000).contains(samples[$0])
                }
                known[set] = found
                row.append((to, found))
            }
            result.append(row)
        }
        return result
    }

    /// Moves threads over the symbols that fit their edges: all of them, or only those of words, or only others.
    private mutating func move(
        _ threads: [Thread], _ fitting: [[(to: Int, symbols: [Int])]], _ reached: inout [Set<Thread>],
        before following: Following?
    ) throws(TextAutomaton.TooLarge) {
        for thread in threads {
            for edge in fitting[Int(thread.state)] {
                for symbol in edge.symbols where following == nil || isWord[symbol] == (following == .word) {
                    work += 1 + thread.duties.count
                    if let moved = moved(thread, edge.to, symbol) { reached[symbol].insert(moved) }
                }
                guard work <= Self.maximumWork else { throw TextAutomaton.TooLarge() }
            }
        }
    }

    /// A thread after a character; `nil` if one of its look-aheads fails.
    private func moved(_ thread: Thread, _ to: Int, _ symbol: Int) -> Thread? {
        var duties: [SIMD2<Int32>] = []
        for duty in thread.duties {
            let look = looks[Int(duty.x)]
            let state = look.next[Int(duty.y) * samples.count + symbol]
            guard let kept = Self.duty(duty.x, state, look, isNegated: states.looks[Int(duty.x)].isNegated) else {
                return nil
            }
            duties += kept
        }
        return Thread(state: Int32(to), duties: duties)
    }

    /// What is left of a look-ahead in a state: nothing if it is fulfilled, `nil` if it cannot be.
    private static func duty(
        _ number: Int32, _ state: Int32, _ look: PatternAutomaton, isNegated: Bool
    ) -> [SIMD2<Int32>]? {
        let never = state < 0 || look.acceptsNone[Int(state)]
        let always = state >= 0 && look.acceptsAll[Int(state)]
        if never { return isNegated ? [] : nil }
        if always { return isNegated ? nil : [] }
        return [SIMD2(number, state)]
    }

    /// Whether a text may end with a thread.
    private func accepts(_ thread: Thread) -> Bool {
        guard thread.state == Int32(states.end) else { return false }
        return thread.duties.allSatisfy { duty in
            looks[Int(duty.x)].accepting[Int(duty.y)] != states.looks[Int(duty.x)].isNegated
        }
    }

    /// All threads that a state reaches without a character.
    private mutating func closure(_ state: State, _ following: Following) throws(TextAutomaton.TooLarge) -> [Thread] {
        var seen = Set(state.threads)
        var order = state.threads
        var index = 0
        func add(_ thread: Thread) {
            if seen.insert(thread).inserted { order.append(thread) }
        }
        while index < order.count {
            let thread = order[index]
            index += 1
            work += 1 + thread.duties.count
            guard work <= Self.maximumWork, order.count <= Self.maximumThreads * 4 else {
                throw TextAutomaton.TooLarge()
            }
            for edge in states.edges[Int(thread.state)] {
                var moved = thread
                switch edge {
                case .set: continue
                case .free(let to): moved.state = Int32(to)
                case .begin(let to):
                    guard state.context == .start else { continue }
                    moved.state = Int32(to)
                case .end(let to):
                    guard following == .end else { continue }
                    moved.state = Int32(to)
                case .boundary(let isNegated, let to):
                    let isBoundary = (state.context == .word) != (following == .word)
                    guard isBoundary != isNegated else { continue }
                    moved.state = Int32(to)
                case .ahead(let number, let to):
                    let look = looks[number]
                    guard
                        let kept = Self.duty(
                            Int32(number), look.entries[state.context] ?? -1, look,
                            isNegated: states.looks[number].isNegated)
                    else { continue }
                    moved.state = Int32(to)
                    for duty in kept where !moved.duties.contains(duty) { moved.duties.append(duty) }
                    moved.duties.sort { ($0.x, $0.y) < ($1.x, $1.y) }
                case .behind(let number, let isNegated, let to):
                    let reached = state.behind.indices.contains(number) ? state.behind[number] : -1
                    let holds = reached >= 0 && looks[number].accepting[Int(reached)]
                    guard holds != isNegated else { continue }
                    moved.state = Int32(to)
                }
                add(moved)
            }
        }
        return order
    }

    /// Finds the states from which every text, or no text, is accepted.
    private mutating func classify() {
        let count = accepting.count
        func leading(to goal: (Int) -> Bool) -> [Bool] {
            var found = (0..<count).map(goal)
            var sources = [[Int]](repeating: [], count: count)
            for state in 0..<count {
                for symbol in samples.indices where next[state * samples.count + symbol] >= 0 {
                    sources[Int(next[state * samples.count + symbol])].append(state)
                }
            }
            var ready = (0..<count).filter { found[$0] }
            while let state = ready.popLast() {
                for source in sources[state] where !found[source] {
                    found[source] = true
                    ready.append(source)
                }
            }
            return found
        }
        acceptsNone = leading { accepting[$0] }.map(!)
        acceptsAll = leading { state in
            !accepting[state]
                || samples.indices.contains {
                    next[state * samples.count + $0] < 0 && !(0xD800..<0xE000).contains(samples[$0])
                }
        }.map(!)
    }
}
