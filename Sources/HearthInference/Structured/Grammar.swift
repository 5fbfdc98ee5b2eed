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
        /// A repetition with this number.
        case counted(Int)
        /// The content of a JSON string, as the machine with this number accepts it.
        case text(Int)
        /// Nothing, if no key or item before it in the same object or list equals the text of this rule.
        case fresh(Twins)
    }

    /// What a text must differ from.
    enum Twins: Sendable, Hashable {
        /// The keys before it in the object; the text is a key without its last quotation mark.
        case keys
        /// The items before it in the list.
        case items
        /// The items before it in the list; the text is a string without its last quotation mark.
        case strings
    }

    /// A repetition that is counted while it is matched.
    struct Count: Sendable, Hashable {
        let rule: Int
        var low: Int
        let high: Int
    }

    /// All alternatives of all rules, one after the other.
    let elements: [Element]
    /// The beginnings of the alternatives of each rule.
    let alternatives: [[Int]]
    let classes: [CharacterRanges]
    let counts: [Count]
    let texts: [TextMachine]
    /// One flag for each rule: whether it matches the empty text.
    let isNullable: [Bool]
    let root: Int

    /// Reads a grammar with the start rule `root`.
    /// - Throws: `grammar-unusable`, with the line and the reason.
    package init(gbnf: String) throws(LLMError) {
        guard gbnf.utf8.count <= Self.maximumLength else {
            throw Self.unusable("it has more than \(Self.maximumLength) bytes")
        }
        try self.init(gbnf, texts: [], maximumPlaces: Self.maximumPlaces)
    }

    /// Reads a grammar that names machines of texts as `@0`, `@1`, and checks of equal keys and items as `@key`, `@item`
    /// and `@string`.
    init(_ gbnf: String, texts: [TextMachine], maximumPlaces: Int) throws(LLMError) {
        var parser = GrammarParser(gbnf, texts: texts.count, maximumPlaces: maximumPlaces)
        try parser.parse()
        let rules = try parser.finished()
        elements = rules.elements
        classes = parser.classes
        self.texts = texts
        root = rules.root
        let mayBeEmpty = Self.holding(rules.alternatives, rules.elements, parser.counts) { texts[$0].holdsEmptyText }
        // Rounds of a repetition that take nothing are not counted.
        counts = parser.counts.map { count in
            mayBeEmpty[count.rule] ? Count(rule: count.rule, low: 0, high: count.high) : count
        }
        self.isNullable = Self.holding(rules.alternatives, rules.elements, counts) { texts[$0].holdsEmptyText }
        // A rule whose texts never end cannot be matched, and is never begun.
        let isProductive = Self.holding(rules.alternatives, rules.elements, counts, character: true) {
            !texts[$0].isEmpty
        }
        guard isProductive[root] else { throw Self.unusable("nothing fits it: its root never comes to an end") }
        let counts = self.counts
        func isUsable(_ start: Int) -> Bool {
            var place = start
            while true {
                switch rules.elements[place] {
                case .end: return true
                case .rule(let used) where !isProductive[used]: return false
                case .counted(let count) where counts[count].low > 0 && !isProductive[counts[count].rule]: return false
                case .text(let text) where texts[text].isEmpty: return false
                default: place += 1
                }
            }
        }
        alternatives = rules.alternatives.map { $0.filter(isUsable) }
    }

    /// The grammar of all texts of this grammar, each followed by `text`.
    package func followed(by text: String) -> Grammar { Grammar(self, followedBy: text) }

    /// The grammar of all texts of this grammar, each after `text`.
    package func preceded(by text: String) -> Grammar { Grammar(self, after: text) }

    private init(_ grammar: Grammar, after before: String = "", followedBy after: String = "") {
        let scalars = Array(before.unicodeScalars) + Array(after.unicodeScalars)
        let letters = scalars.indices.map { Element.characters(grammar.classes.count + $0) }
        let start = before.unicodeScalars.count
        elements =
            grammar.elements + letters[..<start] + [.rule(grammar.root)] + letters[start...]
            + [.end(grammar.alternatives.count)]
        alternatives = grammar.alternatives + [[grammar.elements.count]]
        classes = grammar.classes + scalars.map { CharacterRanges([$0.value...$0.value]) }
        counts = grammar.counts
        texts = grammar.texts
        isNullable = grammar.isNullable + [scalars.isEmpty && grammar.isNullable[grammar.root]]
        root = grammar.alternatives.count
    }

    /// The rules with an alternative whose elements all hold. A rule element holds by this same table, all characters by
    /// `character`, a text by `text`.
    private static func holding(
        _ alternatives: [[Int]], _ elements: [Element], _ counts: [Count], character: Bool = false,
        text: (Int) -> Bool
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
                    case .characters: if !character { count += 1 }
                    case .text(let number): if !text(number) { count += 1 }
                    case .fresh: break
                    case .counted(let number) where counts[number].low == 0: break
                    case .counted(let repeated):
                        count += 1
                        users[counts[repeated].rule].append(number)
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
