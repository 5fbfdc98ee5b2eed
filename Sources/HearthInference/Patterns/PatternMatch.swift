/// Matches a regular expression by backtracking, as ECMAScript defines it, with a bound of its steps.
struct PatternMatch {
    private let text: [UInt32]
    private var groups: [Int: Range<Int>] = [:]
    private var steps = 0
    private var depth = 0
    /// The most steps of this search.
    private let maximumSteps: Int
    /// The most calls inside one another: each item of an expression and each repetition takes one.
    private static let maximumDepth = 700

    private struct Exhausted: Error {}

    init(_ text: String, maximumSteps: Int) {
        self.text = text.unicodeScalars.map(\.value)
        self.maximumSteps = maximumSteps
    }

    /// Whether an expression matches somewhere; `nil` if the search took too many steps.
    mutating func find(_ node: PatternNode) -> Bool? {
        do {
            for start in 0...text.count {
                groups = [:]
                if try match(node, start, true, { _, _ in true }) { return true }
                if Self.beginsText(node) { return false }
            }
            return false
        } catch {
            return nil
        }
    }

    /// Whether an expression can match at the beginning of a text only.
    private static func beginsText(_ node: PatternNode) -> Bool {
        switch node {
        case .begin(let isOfLine): !isOfLine
        case .sequence(let items): items.first.map(beginsText) ?? false
        case .group(let item, _): beginsText(item)
        case .alternatives(let items): items.allSatisfy(beginsText)
        default: false
        }
    }

    private typealias Rest = (inout PatternMatch, Int) throws -> Bool

    /// Matches a node at a place, then the rest. Inside a look-behind the text is read backwards.
    private mutating func match(
        _ node: PatternNode, _ place: Int, _ forward: Bool, _ rest: Rest
    ) throws -> Bool {
        steps += 1
        depth += 1
        defer { depth -= 1 }
        guard steps <= maximumSteps, depth <= Self.maximumDepth else { throw Exhausted() }
        switch node {
        case .empty: return try rest(&self, place)
        case .set(let set):
            let index = forward ? place : place - 1
            guard text.indices.contains(index), set.exact.contains(text[index]) else { return false }
            return try rest(&self, forward ? place + 1 : place - 1)
        case .sequence(let items): return try match(forward ? items[...] : items.reversed()[...], place, forward, rest)
        case .alternatives(let items):
            for item in items where try match(item, place, forward, rest) { return true }
            return false
        case .repeated(let item, let low, let high, let isLazy):
            if case .set(let set) = item { return try run(set, low, high, isLazy, place, forward, rest) }
            return try again(item, low, high, isLazy, 0, place, forward, rest)
        case .group(let item, let number):
            let before = groups[number]
            let found = try match(item, place, forward) { matcher, end in
                let inner = matcher.groups[number]
                matcher.groups[number] = min(place, end)..<max(place, end)
                if try rest(&matcher, end) { return true }
                matcher.groups[number] = inner
                return false
            }
            if !found { groups[number] = before }
            return found
        case .begin(let isOfLine):
            guard place == 0 || isOfLine && Self.endsLine(text[place - 1]) else { return false }
            return try rest(&self, place)
        case .end(let isOfLine):
            guard place == text.count || isOfLine && Self.endsLine(text[place]) else { return false }
            return try rest(&self, place)
        case .boundary(let isNegated):
            guard (isWord(place - 1) != isWord(place)) != isNegated else { return false }
            return try rest(&self, place)
        case .look(let item, let isAhead, let isNegated):
            let before = groups
            let found = try match(item, place, isAhead) { _, _ in true }
            if isNegated || !found { groups = before }
            guard found != isNegated else { return false }
            return try rest(&self, place)
        case .reference(let number):
            guard let range = groups[number] else { return try rest(&self, place) }
            let start = forward ? place : place - range.count
            steps += range.count
            guard start >= 0, start + range.count <= text.count,
                text[start..<start + range.count] == text[range]
            else { return false }
            return try rest(&self, forward ? start + range.count : start)
        }
    }

    private mutating func match(
        _ items: ArraySlice<PatternNode>, _ place: Int, _ forward: Bool, _ rest: Rest
    ) throws -> Bool {
        guard let first = items.first else { return try rest(&self, place) }
        if items.count == 1 { return try match(first, place, forward, rest) }
        return try match(first, place, forward) { matcher, next in
            try matcher.match(items.dropFirst(), next, forward, rest)
        }
    }

    /// Repeats a class without a call for each character.
    private mutating func run(
        _ set: PatternSet, _ low: Int, _ high: Int?, _ isLazy: Bool, _ place: Int, _ forward: Bool, _ rest: Rest
    ) throws -> Bool {
        var most = 0
        let room = forward ? text.count - place : place
        while most < min(high ?? room, room), set.exact.contains(text[forward ? place + most : place - most - 1]) {
            most += 1
        }
        steps += most
        guard steps <= maximumSteps else { throw Exhausted() }
        guard most >= low else { return false }
        for count in isLazy ? Array(low...most) : (low...most).reversed() {
            steps += 1
            if try rest(&self, forward ? place + count : place - count) { return true }
        }
        return false
    }

    private mutating func again(
        _ item: PatternNode, _ low: Int, _ high: Int?, _ isLazy: Bool, _ count: Int, _ place: Int, _ forward: Bool,
        _ rest: Rest
    ) throws -> Bool {
        if isLazy, count >= low, try rest(&self, place) { return true }
        if high.map({ count < $0 }) ?? true {
            let found = try match(item, place, forward) { matcher, next in
                // A repetition that takes nothing adds nothing.
                if next == place, count >= low { return false }
                return try matcher.again(item, low, high, isLazy, count + 1, next, forward, rest)
            }
            if found { return true }
        }
        return !isLazy && count >= low ? try rest(&self, place) : false
    }

    private func isWord(_ place: Int) -> Bool {
        text.indices.contains(place) && PatternSet.word.exact.contains(text[place])
    }

    private static func endsLine(_ value: UInt32) -> Bool {
        value == 0x0A || value == 0x0D || value == 0x2028 || value == 0x2029
    }
}
