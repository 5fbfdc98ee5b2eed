/// Escapes and classes of characters.
extension PatternReader {
    mutating func escape() throws(PatternFlaw) -> PatternNode? {
        guard let character = peek else { throw PatternFlaw(reason: "ends in the middle of an escape") }
        switch character {
        case "b", "B":
            position += 1
            return .boundary(isNegated: character == "B")
        case "A", "Z", "z", "G":
            position += 1
            return character == "A" || character == "G" ? .begin(isOfLine: false) : .end(isOfLine: false)
        case "k":
            position += 1
            guard take("<") else { return literal("k") }
            let name = name(until: ">")
            return try reference(named: name)
        case "Q":
            position += 1
            return try quoted()
        case "1"..."9":
            let start = position
            if let value = number(), value <= groups.count {
                hasReferences = true
                return .reference(value)
            }
            position = start
        default: break
        }
        if let set = try escapedSet() { return .set(cased(set)) }
        return literal(try escapedCharacter())
    }

    private func literal(_ character: Unicode.Scalar) -> PatternNode {
        .set(cased(PatternSet(exact: CharacterRanges(character))))
    }

    /// The literal text of `\Q…\E`.
    private mutating func quoted() throws(PatternFlaw) -> PatternNode {
        var items: [PatternNode] = []
        while let next = peek, !take("\\E") {
            position += 1
            items.append(literal(next))
        }
        return .sequence(items)
    }

    mutating func reference(named name: String) throws(PatternFlaw) -> PatternNode {
        guard let number = groups.names[name] else {
            throw PatternFlaw(reason: "refers to a group that it does not have")
        }
        hasReferences = true
        return .reference(number)
    }

    /// A class such as `\d` or `\p{L}` after a backslash; `nil` for a single character.
    private mutating func escapedSet() throws(PatternFlaw) -> PatternSet? {
        guard let character = peek else { return nil }
        if let named = PatternSet.named(character) {
            position += 1
            return named
        }
        switch character {
        case "h", "H":
            position += 1
            let blank = PatternSet(exact: CharacterRanges([0x09...0x09, 0x20...0x20]), wide: PatternSet.blank.wide)
            return character == "h" ? blank : blank.inverted
        case "R", "N", "X":
            position += 1
            return character == "N" ? .dot : character == "X" ? .any : PatternSet(exact: CharacterRanges("\n"))
        case "p", "P":
            position += 1
            let name = take("{") ? name(until: "}") : peek.map { String($0) } ?? ""
            if position < characters.count, characters[position - 1] == character { position += 1 }
            let isNegated = (character == "P") != name.hasPrefix("^")
            guard let set = PatternSet.property(name.hasPrefix("^") ? String(name.dropFirst()) : name) else {
                throw PatternFlaw(reason: "has \\\(character){\(name)}, which is not known here")
            }
            return isNegated ? set.inverted : set
        default: return nil
        }
    }

    /// The character of an escape, after its backslash.
    private mutating func escapedCharacter() throws(PatternFlaw) -> Unicode.Scalar {
        guard let character = peek else { throw PatternFlaw(reason: "ends in the middle of an escape") }
        position += 1
        switch character {
        case "t": return "\t"
        case "n": return "\n"
        case "r": return "\r"
        case "v": return "\u{B}"
        case "f": return "\u{C}"
        case "a": return "\u{7}"
        case "e": return "\u{1B}"
        case "0": return "\0"
        case "c":
            guard let letter = peek, letter.properties.isAlphabetic, letter.isASCII else { return "c" }
            position += 1
            return Unicode.Scalar(letter.value % 32) ?? "c"
        case "x", "u", "U": return try hexadecimal(character)
        default: return character
        }
    }

    private mutating func hexadecimal(_ letter: Unicode.Scalar) throws(PatternFlaw) -> Unicode.Scalar {
        if take("{") {
            let digits = name(until: "}")
            guard let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
                throw PatternFlaw(reason: "has an escape of no character")
            }
            return scalar
        }
        // An escape without its digits stands for its letter.
        guard let value = digits(letter == "x" ? 2 : letter == "u" ? 4 : 8) else { return letter }
        if let scalar = Unicode.Scalar(value) { return scalar }
        // Two halves of a surrogate pair are one character.
        let start = position
        if (0xD800...0xDBFF).contains(value), take("\\u"), let low = digits(4), (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (value - 0xD800) << 10 + (low - 0xDC00))
        {
            return scalar
        }
        position = start
        // Half a pair alone is no character, but may bound a range of characters.
        return value < 0xDC00 ? "\u{D7FF}" : "\u{E000}"
    }

    private mutating func digits(_ count: Int) -> UInt32? {
        let end = position + count
        guard end <= characters.count, characters[position..<end].allSatisfy(\.properties.isASCIIHexDigit),
            let value = UInt32(String(String.UnicodeScalarView(characters[position..<end])), radix: 16)
        else { return nil }
        position = end
        return value
    }

    // MARK: Classes

    mutating func characterClass() throws(PatternFlaw) -> PatternSet {
        let isNegated = take("^")
        var set = PatternSet(exact: .none)
        var isFirst = true
        while let character = peek, character != "]" || isFirst && closesLater {
            isFirst = false
            if let named = try classItem() {
                set = set.union(named)
                continue
            }
            let low = try classCharacter()
            var high = low
            if peek == "-", position + 1 < characters.count, characters[position + 1] != "]" {
                let dash = position
                position += 1
                // A class after a dash is no end of a range: the dash stands for itself.
                if try classItem() != nil { position = dash } else { high = try classCharacter() }
                if position == dash {
                    set = set.union(PatternSet(exact: CharacterRanges([low.value...low.value, 0x2D...0x2D])))
                    position += 1
                    continue
                }
            }
            guard low <= high else { throw PatternFlaw(reason: "has a range that ends before it begins") }
            set = set.union(PatternSet(exact: CharacterRanges([low.value...high.value])))
        }
        guard take("]") else { throw PatternFlaw(reason: "has a class that is not closed") }
        let cased = cased(set)
        return isNegated ? cased.inverted : cased
    }

    /// Whether a bracket at the beginning of a class stands for itself: `[]a]` of Python, but `[]` of ECMAScript.
    private var closesLater: Bool {
        guard let next = characters[(position + 1)...].firstIndex(where: { $0 == "]" || $0 == "[" }) else {
            return false
        }
        return characters[next] == "]"
    }

    /// A class inside a class, such as `\d` or `[:alpha:]`; `nil` for a character.
    private mutating func classItem() throws(PatternFlaw) -> PatternSet? {
        if peek == "\\", position + 1 < characters.count {
            let start = position
            position += 1
            if let set = try escapedSet() { return set }
            position = start
        }
        if take("[:") {
            let name = name(until: ":")
            guard take("]"), let set = Self.posix[name] else { throw PatternFlaw(reason: "has an unknown class") }
            return set
        }
        return nil
    }

    private static let posix: [String: PatternSet] = [
        "alpha": PatternSet(exact: CharacterRanges([0x41...0x5A, 0x61...0x7A])), "digit": .digit, "space": .blank,
        "alnum": PatternSet(exact: CharacterRanges([0x30...0x39, 0x41...0x5A, 0x61...0x7A])), "word": .word,
        "upper": PatternSet(exact: CharacterRanges([0x41...0x5A])),
        "lower": PatternSet(exact: CharacterRanges([0x61...0x7A])),
        "xdigit": PatternSet(exact: CharacterRanges([0x30...0x39, 0x41...0x46, 0x61...0x66])),
        "punct": PatternSet(exact: CharacterRanges([0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E])),
    ]

    private mutating func classCharacter() throws(PatternFlaw) -> Unicode.Scalar {
        guard let character = peek else { throw PatternFlaw(reason: "has a class that is not closed") }
        position += 1
        guard character == "\\" else { return character }
        if take("b") { return "\u{8}" }
        return try escapedCharacter()
    }
}

/// The groups of an expression, found before it is read, because references may come first.
enum PatternNames {
    static func groups(in characters: [Unicode.Scalar]) -> (count: Int, names: [String: Int]) {
        var (count, names, isClass) = (0, [String: Int](), false)
        var place = 0
        while place < characters.count {
            let character = characters[place]
            place += 1
            switch character {
            case "\\": place += 1
            case "[": isClass = true
            case "]": isClass = false
            case "(" where !isClass:
                guard place < characters.count, characters[place] == "?" else {
                    count += 1
                    continue
                }
                var start = place + 1
                if start < characters.count, characters[start] == "P" { start += 1 }
                guard start + 1 < characters.count, characters[start] == "<", characters[start + 1] != "=",
                    characters[start + 1] != "!", let end = characters[start...].firstIndex(of: ">")
                else { continue }
                count += 1
                names[String(String.UnicodeScalarView(characters[start + 1..<end]))] = count
            default: break
            }
        }
        return (count, names)
    }
}
