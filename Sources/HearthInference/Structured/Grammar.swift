import HearthBase

/// A context-free grammar over characters, read from GBNF, the notation of llama.cpp.
///
/// Any grammar of that notation will do, also a left-recursive or an ambiguous one; only tokens by number or name
/// (`<[42]>`, `<think>`) are not part of it. What is too large to be followed in time is refused here.
package struct Grammar: Sendable, Hashable {
    /// The most bytes of a grammar's text.
    package static let maximumLength = 256 << 10
    /// The most places a grammar may have once repetitions are written out.
    static let maximumPlaces = 50_000
    static let maximumDepth = 100

    /// The element at a place of a rule.
    enum Element: Sendable, Hashable {
        /// A character in one of these ranges, in order and apart.
        case characters(Int)
        case rule(Int)
        /// The end of an alternative of this rule.
        case end(Int)
    }

    /// All alternatives of all rules, one after the other.
    let elements: [Element]
    /// For each rule the places where its alternatives begin.
    let alternatives: [[Int]]
    let classes: [CharacterRanges]
    /// The rules that may be empty, one flag each.
    let isNullable: [Bool]
    let root: Int

    /// Reads a grammar whose first rule to apply is `root`.
    /// - Throws: `grammar-unusable`, with the line and what is wrong.
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
        // A text without an end cannot be written.
        let isProductive = Self.holding(alternatives, elements) { _ in true }
        guard isProductive[root] else { throw Self.unusable("nothing fits it: its root never comes to an end") }
    }

    /// The grammar of all texts of this one followed by `text`.
    package func followed(by text: String) -> Grammar { Grammar(self, followedBy: text) }

    private init(_ grammar: Grammar, followedBy text: String) {
        let scalars = Array(text.unicodeScalars)
        let last = scalars.indices.map { Element.characters(grammar.classes.count + $0) }
        elements = grammar.elements + [.rule(grammar.root)] + last + [.end(grammar.alternatives.count)]
        alternatives = grammar.alternatives + [[grammar.elements.count]]
        classes = grammar.classes + scalars.map { CharacterRanges([$0.value...$0.value]) }
        isNullable = grammar.isNullable + [text.isEmpty && grammar.isNullable[grammar.root]]
        root = grammar.alternatives.count
    }

    /// The rules with an alternative all of whose elements hold: rules by this same table, characters by `character`.
    private static func holding(
        _ alternatives: [[Int]], _ elements: [Element], character: (Int) -> Bool
    ) -> [Bool] {
        // Each alternative counts its missing elements, so that every place is visited once.
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
