import HearthBase

/// A context-free grammar over characters, read from GBNF, the notation of llama.cpp.
///
/// Any grammar in that notation is accepted, also a left-recursive or an ambiguous one, except tokens by number or name
/// (`<[42]>`, `<think>`). A grammar that is too large to match in time is refused here.
package struct Grammar: Sendable, Hashable {
    /// The most bytes of a grammar's text.
    package static let maximumLength = 256 << 10
    /// The most places of a grammar after repetitions are expanded.
    static let maximumPlaces = 50_000
    static let maximumDepth = 100

    /// The element at a place of a rule.
    enum Element: Sendable, Hashable {
        /// A character in the ranges with this number, which are ordered and do not touch.
        case characters(Int)
        case rule(Int)
        /// The end of an alternative of this rule.
        case end(Int)
    }

    /// All alternatives of all rules, one after the other.
    let elements: [Element]
    /// The beginnings of the alternatives of each rule.
    let alternatives: [[Int]]
    let classes: [CharacterRanges]
    /// One flag for each rule: whether it matches the empty text.
    let isNullable: [Bool]
    let root: Int

    /// Reads a grammar with the start rule `root`.
    /// - Throws: `grammar-unusable`, with the line and the reason.
    package init(gbnf: String) throws(LLMError) {
        guard gbnf.utf8.count <= Self.maximumLength else {
            throw Self.unusable("it has more than \(Self.maximumLength) bytes")
        }
        var parser = GrammarParser(gbnf)
        try parser.parse()
        let rules = try parser.finished()
        elements = rules.elements
        alternatives = rules.alternatives
        classes = parser.classes
        root = rules.root
        isNullable = Self.holding(alternatives, elements) { _ in false }
        // A rule whose texts never end cannot be matched.
        let isProductive = Self.holding(alternatives, elements) { _ in true }
        guard isProductive[root] else { throw Self.unusable("nothing fits it: its root never comes to an end") }
    }

    /// The grammar of all texts of this grammar, each followed by `text`.
    package func followed(by text: String) -> Grammar { Grammar(self, followedBy: text) }

    /// The grammar of all texts of this grammar, each after `text`.
    package func preceded(by text: String) -> Grammar { Grammar(self, after: text) }

    private init(_ grammar: Grammar, after before: String = "", followedBy after: String = "") {
        let scalars = Array(before.unicodeScalars) + Array(after.unicodeScalars)
        let texts = scalars.indices.map { Element.characters(grammar.classes.count + $0) }
        let start = before.unicodeScalars.count
        elements =
            grammar.elements + texts[..<start] + [.rule(grammar.root)] + texts[start...]
            + [.end(grammar.alternatives.count)]
        alternatives = grammar.alternatives + [[grammar.elements.count]]
        classes = grammar.classes + scalars.map { CharacterRanges([$0.value...$0.value]) }
        isNullable = grammar.isNullable + [scalars.isEmpty && grammar.isNullable[grammar.root]]
        root = grammar.alternatives.count
    }

    /// The rules with an alternative whose elements all hold. A rule element holds by this same table, a character by
    /// `character`.
    private static func holding(
        _ alternatives: [[Int]], _ elements: [Element], character: (Int) -> Bool
    ) -> [Bool] {
        // Each alternative counts its missing elements, so that the loop visits every place once.
        var result = [Bool](repeating: false, count: alternatives.count)
        var missing: [Int] = []
        var owners: [Int] = []
        var users = [[Int]](repeating: [], count: alternatives.count)
        var ready: [Int] = []
        for (rule, starts) in alternatives.enumerated() {
            for start in starts {
                let number = missing.count
                var count = 0
                var place = start
                scan: while true {
                    switch elements[place] {
                    case .end: break scan
                    case .characters(let set): if !character(set) { count += 1 }
                    case .rule(let used):
                        count += 1
                        users[used].append(number)
                    }
                    place += 1
                }
                missing.append(count)
                owners.append(rule)
                if count == 0, !result[rule] {
                    result[rule] = true
                    ready.append(rule)
                }
            }
        }
        while let rule = ready.popLast() {
            for user in users[rule] {
                missing[user] -= 1
                let owner = owners[user]
                if missing[user] == 0, !result[owner] {
                    result[owner] = true
                    ready.append(owner)
                }
            }
        }
        return result
    }

    static func unusable(_ reason: String) -> LLMError {
        .unusable("the grammar cannot be used: \(reason)", remedy: "Correct the grammar, or make it smaller.")
    }
}
