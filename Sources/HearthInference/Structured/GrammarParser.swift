/// Reads GBNF, rule by rule. Repetitions and groups become rules of their own.
struct GrammarParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private var places = 0
    private var numbers: [String: Int] = [:]
    private var names: [String?] = []
    /// The alternatives of each rule, without their ends; `nil` until it is defined.
    private var rules: [[[Grammar.Element]]?] = []
    private(set) var classes: [Grammar.CharacterRanges] = []
    private var classNumbers: [Grammar.CharacterRanges: Int] = [:]

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Reads all rules.
    mutating func parse() throws(LLMError) {
        skipSpace(newlines: true)
        while position < bytes.count {
            let name = try readName()
            skipSpace(newlines: false)
            guard take("::=") else { throw wrong("`::=` is missing after `\(name)`") }
            skipSpace(newlines: true)
            let rule = number(of: name)
            guard rules[rule] == nil else { throw wrong("the rule `\(name)` is defined twice") }
            rules[rule] = try readAlternatives(isNested: false)
            if position < bytes.count, !isNewline(bytes[position]) { throw wrong("the rule ends unexpectedly") }
            skipSpace(newlines: true)
        }
    }

    /// The rules, laid out one after the other.
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
        /// Where the last symbol begins, to which a repetition applies.
        var last: Int?
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                last = sequence.count
                while position < bytes.count, bytes[position] != byte {
                    let value = try readCharacter()
                    sequence.append(.characters(add([value...value])))
                    try count(1)
                }
                guard take("\"") else { throw wrong("a literal is not closed") }
            case UInt8(ascii: "["):
                last = sequence.count
                sequence.append(.characters(try readClass()))
                try count(1)
            case UInt8(ascii: "."):
                position += 1
                last = sequence.count
                sequence.append(.characters(add([0...0x10FFFF])))
                try count(1)
            case UInt8(ascii: "("):
                position += 1
                depth += 1
                guard depth <= Grammar.maximumDepth else { throw wrong("its groups are nested too deeply") }
                skipSpace(newlines: true)
                last = sequence.count
                let group = try readAlternatives(isNested: true)
                guard take(")") else { throw wrong("a group is not closed") }
                depth -= 1
                sequence.append(try rule(group))
            case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"), UInt8(ascii: "{"):
                let (low, high) = try readRepetition()
                guard let start = last else { throw wrong("there is nothing to repeat") }
                let repeated = Array(sequence[start...])
                sequence.removeSubrange(start...)
                sequence += try repeating(repeated, low, high)
                // What is repeated may be repeated again, as llama.cpp has it.
                last = start
            case UInt8(ascii: "<"), UInt8(ascii: "!"):
                throw wrong("tokens by name or number are not known here; write their characters")
            default:
                guard Self.isWord(byte) else { return sequence }
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
            high = position < bytes.count && bytes[position] != UInt8(ascii: "}") ? try readNumber() : nil
            skipSpace(newlines: false)
        }
        guard take("}") else { throw wrong("a repetition is not closed") }
        if let high, high < low { throw wrong("a repetition ends before it begins") }
        return (low, high)
    }

    /// So many times, as rules: what may come any number of times recurses on the left, which is followed in linear time.
    private mutating func repeating(
        _ symbols: [Grammar.Element], _ low: Int, _ high: Int?
    ) throws(LLMError) -> [Grammar.Element] {
        if symbols.isEmpty { return [] }
        let copies = low + (high.map { $0 - low } ?? 1)
        guard copies <= Grammar.maximumPlaces else { throw wrong("it repeats something too often") }
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

    // MARK: Characters

    private mutating func readClass() throws(LLMError) -> Int {
        position += 1
        let isNegated = take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while position < bytes.count, bytes[position] != UInt8(ascii: "]") {
            let low = try readCharacter()
            var high = low
            if position + 1 < bytes.count, bytes[position] == UInt8(ascii: "-"),
                bytes[position + 1] != UInt8(ascii: "]")
            {
                position += 1
                high = try readCharacter()
            }
            guard low <= high else { throw wrong("a range of characters ends before it begins") }
            ranges.append(low...high)
            try count(1)
        }
        guard take("]") else { throw wrong("a set of characters is not closed") }
        return add(isNegated ? Self.inverted(ranges) : ranges)
    }

    private static func inverted(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
            next = max(next, range.upperBound + 1)
        }
        if next <= 0x10FFFF { result.append(next...0x10FFFF) }
        return result
    }

    private mutating func add(_ ranges: [ClosedRange<UInt32>]) -> Int {
        let set = Grammar.CharacterRanges(ranges: ranges)
        if let number = classNumbers[set] { return number }
        classes.append(set)
        classNumbers[set] = classes.count - 1
        return classes.count - 1
    }

    private mutating func readCharacter() throws(LLMError) -> UInt32 {
        guard position < bytes.count else { throw wrong("it ends in the middle") }
        guard bytes[position] == UInt8(ascii: "\\") else {
            // The text was a String, so its bytes are whole characters.
            var length = 1
            while position + length < bytes.count, bytes[position + length] & 0xC0 == 0x80 { length += 1 }
            defer { position += length }
            let text = String(decoding: bytes[position..<position + length], as: UTF8.self)
            return text.unicodeScalars.first?.value ?? 0
        }
        guard position + 1 < bytes.count else { throw wrong("it ends in the middle") }
        let escaped = bytes[position + 1]
        position += 2
        switch escaped {
        case UInt8(ascii: "x"): return try readHexadecimal(2)
        case UInt8(ascii: "u"): return try readHexadecimal(4)
        case UInt8(ascii: "U"): return try readHexadecimal(8)
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "-"):
            return UInt32(escaped)
        default: throw wrong("an escape is unknown")
        }
    }

    private mutating func readHexadecimal(_ count: Int) throws(LLMError) -> UInt32 {
        let end = position + count
        guard end <= bytes.count,
            let value = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16), value <= 0x10FFFF
        else { throw wrong("a character's number is broken") }
        position = end
        return value
    }

    // MARK: Pieces

    private mutating func readName() throws(LLMError) -> String {
        let start = position
        while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
        guard position > start else { throw wrong("a name is missing") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func readNumber() throws(LLMError) -> Int {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        guard let value = Int(String(decoding: bytes[start..<position], as: UTF8.self)) else {
            throw wrong("a number is missing or too large")
        }
        guard value <= Grammar.maximumPlaces else { throw wrong("it repeats something too often") }
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
        if places > Grammar.maximumPlaces { throw wrong("it is too large once its repetitions are written out") }
    }

    private mutating func take(_ text: StaticString) -> Bool {
        let found = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        if found { position += text.utf8CodeUnitCount }
        return found
    }

    /// White space and comments.
    private mutating func skipSpace(newlines: Bool) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09: position += 1
            case 0x0A, 0x0D:
                guard newlines else { return }
                position += 1
            case UInt8(ascii: "#"):
                while position < bytes.count, !isNewline(bytes[position]) { position += 1 }
            default: return
            }
        }
    }

    private func isNewline(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    private func wrong(_ reason: String) -> LLMError {
        let line = bytes.prefix(position).reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
        return Grammar.unusable("line \(line): \(reason)")
    }
}
