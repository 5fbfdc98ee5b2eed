/// Reads GBNF, rule by rule. Repetitions and groups become rules of their own.
struct GrammarParser {
    private let characters: [Unicode.Scalar]
    private var position = 0
    private var depth = 0
    private var places = 0
    private var numbers: [String: Int] = [:]
    private var names: [String?] = []
    /// The alternatives of each rule, without their ends; `nil` until it is defined.
    private var rules: [[[Grammar.Element]]?] = []
    private(set) var classes: [CharacterRanges] = []
    private var classNumbers: [CharacterRanges: Int] = [:]
    private(set) var counts: [Grammar.Count] = []
    /// The number of machines of texts that the grammar may name.
    private let texts: Int
    private let maximumPlaces: Int
    /// A repetition of more copies is counted while it is matched.
    private static let maximumCopies = 8
    /// The highest number of a repetition.
    private static let maximumCount = 1 << 24

    init(_ text: String, texts: Int, maximumPlaces: Int) {
        characters = Array(text.unicodeScalars)
        self.texts = texts
        self.maximumPlaces = maximumPlaces
    }

    /// Reads all rules.
    mutating func parse() throws(LLMError) {
        skipSpace(newlines: true)
        while position < characters.count {
            let name = try readName()
            skipSpace(newlines: false)
            guard take("::=") else { throw wrong("`::=` is missing after `\(name)`") }
            skipSpace(newlines: true)
            let rule = number(of: name)
            guard rules[rule] == nil else { throw wrong("the rule `\(name)` is defined twice") }
            rules[rule] = try readAlternatives(isNested: false)
            if position < characters.count, !isNewline(characters[position]) {
                throw wrong("the rule ends unexpectedly")
            }
            skipSpace(newlines: true)
        }
    }

    /// All rules in one list of elements.
    func finished() throws(LLMError) -> (elements: [Grammar.Element], alternatives: [[Int]], root: Int) {
        guard let root = numbers["root"] else { throw Grammar.unusable("it has no rule `root`") }
        var elements: [Grammar.Element] = []
        var alternatives: [[Int]] = []
        for (number, rule) in rules.enumerated() {
            guard let rule else {
                throw Grammar.unusable("the rule `\(names[number] ?? "")` is used and not defined")
            }
            var starts: [Int] = []
            for alternative in rule {
                starts.append(elements.count)
                elements += alternative
                elements.append(.end(number))
            }
            alternatives.append(starts)
        }
        return (elements, alternatives, root)
    }

    private mutating func readAlternatives(isNested: Bool) throws(LLMError) -> [[Grammar.Element]] {
        var alternatives = [try readSequence(isNested: isNested)]
        while take("|") {
            skipSpace(newlines: true)
            alternatives.append(try readSequence(isNested: isNested))
        }
        return alternatives
    }

    private mutating func readSequence(isNested: Bool) throws(LLMError) -> [Grammar.Element] {
        var sequence: [Grammar.Element] = []
        /// The beginning of the last symbol, to which a repetition applies.
        var last: Int?
        while position < characters.count {
            let character = characters[position]
            switch character {
            case "\"":
                position += 1
                last = sequence.count
                while position < characters.count, characters[position] != character {
                    let value = try readCharacter()
                    sequence.append(.characters(add(CharacterRanges([value...value]))))
                    try count(1)
                }
                guard take("\"") else { throw wrong("a literal is not closed") }
            case "[":
                last = sequence.count
                sequence.append(.characters(try readClass()))
                try count(1)
            case ".":
                position += 1
                last = sequence.count
                sequence.append(.characters(add(CharacterRanges([0...0x10FFFF]))))
                try count(1)
            case "(":
                position += 1
                depth += 1
                guard depth <= Grammar.maximumDepth else { throw wrong("its groups are nested too deeply") }
                skipSpace(newlines: true)
                last = sequence.count
                let group = try readAlternatives(isNested: true)
                guard take(")") else { throw wrong("a group is not closed") }
                depth -= 1
                sequence.append(try rule(group))
            case "*", "+", "?", "{":
                let (low, high) = try readRepetition()
                guard let start = last else { throw wrong("there is nothing to repeat") }
                let repeated = Array(sequence[start...])
                sequence.removeSubrange(start...)
                sequence += try repeating(repeated, low, high)
                // A repetition may follow a repetition, as in llama.cpp.
                last = start
            case "@" where texts > 0:
                position += 1
                last = sequence.count
                sequence.append(try readOwn())
                try count(1)
            case "<", "!":
                throw wrong("tokens by name or number are not known here; write their characters")
            default:
                guard Self.isWord(character) else { return sequence }
                last = sequence.count
                sequence.append(.rule(number(of: try readName())))
                try count(1)
            }
            skipSpace(newlines: isNested)
        }
        return sequence
    }

    // MARK: Repetitions

    private mutating func readRepetition() throws(LLMError) -> (Int, Int?) {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        position += 1
        skipSpace(newlines: false)
        let low = try readNumber()
        skipSpace(newlines: false)
        var high: Int? = low
        if take(",") {
            skipSpace(newlines: false)
            high = position < characters.count && characters[position] != "}" ? try readNumber() : nil
            skipSpace(newlines: false)
        }
        guard take("}") else { throw wrong("a repetition is not closed") }
        if let high, high < low { throw wrong("a repetition ends before it begins") }
        return (low, high)
    }

    /// Makes rules for a repetition. An unlimited repetition is left-recursive, which is matched in linear time.
    private mutating func repeating(
        _ symbols: [Grammar.Element], _ low: Int, _ high: Int?
    ) throws(LLMError) -> [Grammar.Element] {
        if symbols.isEmpty { return [] }
        let copies = high ?? low + 1
        guard copies <= Self.maximumCopies else {
            let number = counts.count
            guard case .rule(let rule) = try rule([symbols]) else { return [] }
            counts.append(Grammar.Count(rule: rule, low: low, high: high ?? Int.max))
            try count(symbols.count + 1)
            return [.counted(number)]
        }
        try count(copies * (symbols.count + 1))
        var result: [Grammar.Element] = []
        for _ in 0..<low { result += symbols }
        if let high {
            var rest: Grammar.Element?
            for _ in low..<high { rest = try rule([[], symbols + (rest.map { [$0] } ?? [])]) }
            if let rest { result.append(rest) }
        } else {
            let any = rules.count
            names.append(nil)
            rules.append([[], [.rule(any)] + symbols])
            result.append(.rule(any))
        }
        return result
    }

    /// A machine of texts, or a check of equal keys or items.
    private mutating func readOwn() throws(LLMError) -> Grammar.Element {
        for (name, twins) in [("key", Grammar.Twins.keys), ("item", .items), ("string", .strings)] where take(name) {
            return .fresh(twins)
        }
        let number = try readNumber()
        guard number < texts else { throw wrong("a text is not defined") }
        return .text(number)
    }

    // MARK: Characters

    private mutating func readClass() throws(LLMError) -> Int {
        position += 1
        let isNegated = take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while position < characters.count, characters[position] != "]" {
            let low = try readCharacter()
            var high = low
            if position + 1 < characters.count, characters[position] == "-",
                characters[position + 1] != "]"
            {
                position += 1
                high = try readCharacter()
            }
            guard low <= high else { throw wrong("a range of characters ends before it begins") }
            ranges.append(low...high)
            try count(1)
        }
        guard take("]") else { throw wrong("a set of characters is not closed") }
        let found = CharacterRanges(ranges)
        return add(isNegated ? found.inverted : found)
    }

    private mutating func add(_ set: CharacterRanges) -> Int {
        if let number = classNumbers[set] { return number }
        classes.append(set)
        classNumbers[set] = classes.count - 1
        return classes.count - 1
    }

    private mutating func readCharacter() throws(LLMError) -> UInt32 {
        guard position < characters.count else { throw wrong("it ends in the middle") }
        let character = characters[position]
        position += 1
        guard character == "\\" else { return character.value }
        guard position < characters.count else { throw wrong("it ends in the middle") }
        let escaped = characters[position]
        position += 1
        switch escaped {
        case "x": return try readHexadecimal(2)
        case "u": return try readHexadecimal(4)
        case "U": return try readHexadecimal(8)
        case "t": return 0x09
        case "r": return 0x0D
        case "n": return 0x0A
        case "\\", "\"", "[", "]", "-":
            return escaped.value
        default: throw wrong("an escape is unknown")
        }
    }

    private mutating func readHexadecimal(_ count: Int) throws(LLMError) -> UInt32 {
        let end = position + count
        guard end <= characters.count, let value = UInt32(text(characters[position..<end]), radix: 16),
            value <= 0x10FFFF
        else { throw wrong("a character's number is broken") }
        position = end
        return value
    }

    // MARK: Pieces

    private mutating func readName() throws(LLMError) -> String {
        let start = position
        while position < characters.count, Self.isWord(characters[position]) { position += 1 }
        guard position > start else { throw wrong("a name is missing") }
        return text(characters[start..<position])
    }

    private mutating func readNumber() throws(LLMError) -> Int {
        let start = position
        while position < characters.count, ("0"..."9").contains(characters[position]) { position += 1 }
        guard let value = Int(text(characters[start..<position])) else {
            throw wrong("a number is missing or too large")
        }
        guard value <= Self.maximumCount else { throw wrong("it repeats something too often") }
        return value
    }

    private mutating func number(of name: String) -> Int {
        if let number = numbers[name] { return number }
        numbers[name] = rules.count
        names.append(name)
        rules.append(nil)
        return rules.count - 1
    }

    private mutating func rule(_ alternatives: [[Grammar.Element]]) throws(LLMError) -> Grammar.Element {
        try count(alternatives.count)
        names.append(nil)
        rules.append(alternatives)
        return .rule(rules.count - 1)
    }

    private mutating func count(_ number: Int) throws(LLMError) {
        places += number
        if places > maximumPlaces { throw wrong("it is too large once its repetitions are written out") }
    }

    private func text(_ part: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(part)) }

    private mutating func take(_ text: String) -> Bool {
        let found = characters[position...].starts(with: text.unicodeScalars)
        if found { position += text.unicodeScalars.count }
        return found
    }

    /// White space and comments.
    private mutating func skipSpace(newlines: Bool) {
        while position < characters.count {
            switch characters[position] {
            case " ", "\t": position += 1
            case "\n", "\r":
                guard newlines else { return }
                position += 1
            case "#":
                while position < characters.count, !isNewline(characters[position]) { position += 1 }
            default: return
            }
        }
    }

    private func isNewline(_ character: Unicode.Scalar) -> Bool { character == "\n" || character == "\r" }

    private static func isWord(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "0"..."9", "A"..."Z", "a"..."z", "-", "_": true
        default: false
        }
    }

    private func wrong(_ reason: String) -> LLMError {
        let line = characters.prefix(position).count { $0 == "\n" } + 1
        return Grammar.unusable("line \(line): \(reason)")
    }
}
