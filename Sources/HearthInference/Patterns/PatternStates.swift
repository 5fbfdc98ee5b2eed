/// The states of a regular expression (Thompson, "Regular expression search algorithm", CACM 11/6, 1968), with the
/// conditions that hold at a place: beginning, end, boundary of a word, look-ahead, look-behind.
struct PatternStates {
    enum Edge {
        case set(PatternSet, Int)
        case free(Int)
        case begin(Int)
        case end(Int)
        case boundary(isNegated: Bool, Int)
        case ahead(look: Int, Int)
        case behind(look: Int, isNegated: Bool, Int)
    }

    /// A look-ahead or look-behind of the expression.
    struct Look: Hashable {
        let node: PatternNode
        let isAhead: Bool
        let isNegated: Bool
    }

    private(set) var edges: [[Edge]] = []
    private(set) var looks: [Look] = []
    private(set) var start = 0
    private(set) var end = 0
    private(set) var hasBoundaries = false
    /// Whether something was left out or widened.
    private(set) var isLoosened = false

    /// The most states.
    private static let maximumStates = 6_000
    /// A repetition that would need more states has no highest number.
    private static let maximumCopies = 3_000

    /// Makes the states of an expression that must match somewhere in the text: `searches` on both sides, or only
    /// `endsFreely` behind it, or neither.
    init(_ node: PatternNode, beginsFreely: Bool, endsFreely: Bool) throws(TextAutomaton.TooLarge) {
        start = try add()
        if beginsFreely { edges[start].append(.set(.any, start)) }
        let first = try add()
        edges[start].append(.free(first))
        let last = try write(node, first)
        end = last
        if endsFreely {
            end = try add()
            edges[last].append(.free(end))
            edges[end].append(.set(.any, end))
        }
    }

    private mutating func add() throws(TextAutomaton.TooLarge) -> Int {
        guard edges.count < Self.maximumStates else { throw TextAutomaton.TooLarge() }
        edges.append([])
        return edges.count - 1
    }

    /// Writes the states of a node after the state `from`.
    /// - Returns: the state at its end.
    private mutating func write(_ node: PatternNode, _ from: Int) throws(TextAutomaton.TooLarge) -> Int {
        switch node {
        case .empty: return from
        case .set(let set):
            let to = try add()
            edges[from].append(.set(set, to))
            return to
        case .sequence(let items):
            var place = from
            for item in items { place = try write(item, place) }
            return place
        case .alternatives(let items):
            let to = try add()
            for item in items {
                let first = try add()
                edges[from].append(.free(first))
                let last = try write(item, first)
                edges[last].append(.free(to))
            }
            return to
        case .group(let item, _): return try write(item, from)
        case .repeated(let item, let low, let high, _): return try write(item, low, high, from)
        case .begin(let isOfLine), .end(let isOfLine):
            // In a text of one line, a line begins and ends with the text.
            _ = isOfLine
            let to = try add()
            if case .begin = node { edges[from].append(.begin(to)) } else { edges[from].append(.end(to)) }
            return to
        case .boundary(let isNegated):
            hasBoundaries = true
            let to = try add()
            edges[from].append(.boundary(isNegated: isNegated, to))
            return to
        case .look(let item, let isAhead, let isNegated):
            let look = Look(node: item, isAhead: isAhead, isNegated: isNegated)
            let number = looks.firstIndex(of: look) ?? looks.count
            if number == looks.count { looks.append(look) }
            let to = try add()
            edges[from].append(
                isAhead ? .ahead(look: number, to) : .behind(look: number, isNegated: isNegated, to))
            return to
        case .reference:
            isLoosened = true
            let to = try add()
            edges[from].append(.free(to))
            edges[to].append(.set(.any, to))
            return to
        }
    }

    private mutating func write(
        _ item: PatternNode, _ low: Int, _ high: Int?, _ from: Int
    ) throws(TextAutomaton.TooLarge) -> Int {
        var (low, high) = (low, high)
        let size = max(1, Self.size(item))
        if let most = high, most > 1, most * size > Self.maximumCopies {
            isLoosened = true
            high = nil
        }
        if low > 1, low * size > Self.maximumCopies {
            isLoosened = true
            low = max(1, Self.maximumCopies / size)
        }
        var place = from
        for _ in 0..<low { place = try write(item, place) }
        guard let high else {
            let again = try add()
            edges[place].append(.free(again))
            let last = try write(item, again)
            edges[last].append(.free(again))
            let to = try add()
            edges[again].append(.free(to))
            return to
        }
        let to = try add()
        for _ in low..<max(low, high) {
            edges[place].append(.free(to))
            let first = try add()
            edges[place].append(.free(first))
            place = try write(item, first)
        }
        edges[place].append(.free(to))
        return to
    }

    /// About the states of a node.
    static func size(_ node: PatternNode) -> Int {
        switch node {
        case .empty: 0
        case .sequence(let items): items.reduce(0) { min(1 << 30, $0 + size($1)) }
        case .alternatives(let items): items.reduce(1) { min(1 << 30, $0 + size($1) + 1) }
        case .group(let item, _): size(item)
        case .repeated(let item, let low, let high, _): min(1 << 30, (size(item) + 1) * max(low, high ?? low + 1))
        case .set, .begin, .end, .boundary, .look, .reference: 1
        }
    }
}
