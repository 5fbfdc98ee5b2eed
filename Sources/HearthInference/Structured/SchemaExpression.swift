/// Rewrites the regular expressions (`pattern`) of a JSON schema to the subset that llama.cpp supports: one expression
/// between `^` and `$` of literals, groups, alternatives, classes and repetitions, without characters that JSON must
/// escape.
///
/// llama.cpp replaces any other pattern by any string, and reports it only on the process's standard error; so it never
/// receives one.
struct SchemaExpression {
    /// The reason why a pattern is not supported.
    struct Flaw: Error {
        let reason: String
    }

    private let characters: [Unicode.Scalar]
    /// Whether llama.cpp receives the pattern unchanged, as in the parameters of tools.
    private let isAsWritten: Bool
    private var position = 0
    private var depth = 0

    /// The pattern in llama.cpp's subset.
    /// - Throws: ``Flaw``.
    static func rewritten(_ pattern: String) throws(Flaw) -> String {
        var parser = SchemaExpression(pattern, isAsWritten: false)
        return "^\(try parser.whole())$"
    }

    /// Refuses a pattern that llama.cpp does not support unchanged.
    /// - Throws: ``Flaw``.
    static func check(_ pattern: String) throws(Flaw) {
        var parser = SchemaExpression(pattern, isAsWritten: true)
        _ = try parser.whole()
    }

    private init(_ pattern: String, isAsWritten: Bool) {
        characters = Array(pattern.unicodeScalars)
        self.isAsWritten = isAsWritten
    }

    private static let anything = CharacterRanges.any.text + "*"

    // MARK: Structure

    private mutating func whole() throws(Flaw) -> String {
        let body = try alternatives()
        guard position == characters.count else { throw Flaw(reason: "has a bracket that closes nothing") }
        return body
    }

    /// The alternatives of a group or of the whole pattern, where each has its own anchors.
    private mutating func alternatives() throws(Flaw) -> String {
        var parts: [String] = []
        repeat {
            let isWhole = depth == 0
            let isAnchored = isWhole && take("^")
            var (body, endsAnchored) = try sequence()
            if isWhole {
                guard !isAsWritten || isAnchored && endsAnchored && peek == nil else {
                    throw Flaw(reason: "does not begin with ^ and end with $")
                }
                body = (isAnchored ? "" : Self.anything) + body + (endsAnchored ? "" : Self.anything)
            } else if endsAnchored {
                throw Flaw(reason: "has ^ or $ in its middle")
            }
            parts.append(body)
        } while take("|")
        return parts.count == 1 && depth == 0 ? parts[0] : "(\(parts.joined(separator: "|")))"
    }

    private mutating func sequence() throws(Flaw) -> (String, endsAnchored: Bool) {
        var result = ""
        while let character = peek, character != "|", character != ")" {
            position += 1
            let item: String
            switch character {
            case "(": item = try group()
            case "[": item = try text(characterClass())
            case ".": item = CharacterRanges.any.text
            case "\\": item = try escape()
            case "$" where depth == 0 && (peek == nil || peek == "|"): return (result, true)
            case "^", "$": throw Flaw(reason: "has ^ or $ in its middle")
            case "*", "+", "?": throw Flaw(reason: "repeats nothing")
            case "]" where isAsWritten, "{" where isAsWritten, "}" where isAsWritten:
                throw Flaw(reason: "has a bracket that closes nothing")
            default: item = try literal(character)
            }
            result += item + (try repetition() ?? "")
        }
        return (result, false)
    }

    private mutating func group() throws(Flaw) -> String {
        if take("?") {
            if !isAsWritten, take("<"), let character = peek, character != "=", character != "!" {
                while let character = peek, character != ">" { position += 1 }
                position += 1
            } else if !take(":") {
                throw Flaw(reason: "has a group that is neither (…) nor (?:…)")
            }
        }
        depth += 1
        guard depth <= OutputConstraint.maximumSchemaDepth else { throw Flaw(reason: "is nested too deeply") }
        let body = try alternatives()
        depth -= 1
        guard take(")") else { throw Flaw(reason: "has a group that is not closed") }
        return body
    }

    private mutating func repetition() throws(Flaw) -> String? {
        let result: String
        switch peek {
        case "*", "+", "?":
            result = String(characters[position])
            position += 1
        case "{":
            guard let end = characters[position...].firstIndex(of: "}") else {
                throw Flaw(reason: "has a repetition that is not closed")
            }
            let numbers = String(String.UnicodeScalarView(characters[position + 1..<end]))
                .split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
            guard !numbers[0].isEmpty,
                numbers.allSatisfy({ $0.count < 5 && $0.allSatisfy { $0.isASCII && $0.isWholeNumber } })
            else {
                throw Flaw(reason: "has a repetition other than {n}, {n,} and {n,m}")
            }
            result = "{\(numbers.joined(separator: ","))}"
            position = end + 1
        default: return nil
        }
        // A lazy repetition matches the same texts.
        _ = take("?")
        return result
    }

    // MARK: Characters

    private mutating func escape() throws(Flaw) -> String {
        guard let character = peek else { throw Flaw(reason: "ends in the middle of an escape") }
        if !isAsWritten, let named = CharacterRanges.named(character) {
            position += 1
            return try text(named)
        }
        return try literal(try escaped(as: "^$.()|{}*+?"))
    }

    /// The character of an escape, after its backslash.
    /// - Parameter others: the characters that llama.cpp reads as themselves in this place, besides those it reads so
    ///   everywhere.
    private mutating func escaped(as others: String) throws(Flaw) -> Unicode.Scalar {
        guard let character = peek else { throw Flaw(reason: "ends in the middle of an escape") }
        position += 1
        switch character {
        case "x", "u", "U":
            let count = character == "x" ? 2 : character == "u" ? 4 : 8
            let end = position + count
            guard end <= characters.count,
                characters[position..<end].allSatisfy(\.properties.isASCIIHexDigit),
                let value = UInt32(String(String.UnicodeScalarView(characters[position..<end])), radix: 16),
                let scalar = Unicode.Scalar(value)
            else { throw Flaw(reason: "has an escape without its \(count) digits") }
            position = end
            return scalar
        case "t": return "\t"
        case "n": return "\n"
        case "r": return "\r"
        case _ where isAsWritten && !(others + #""[]-\"#).unicodeScalars.contains(character),
            _ where character.properties.isAlphabetic || character.properties.numericType != nil:
            throw Flaw(reason: "has \\\(character), which is not known here; write out what it stands for, as [0-9]")
        default: return character
        }
    }

    private func literal(_ character: Unicode.Scalar) throws(Flaw) -> String {
        try text(CharacterRanges([character.value...character.value]))
    }

    /// The characters in llama.cpp's notation.
    private func text(_ characters: CharacterRanges) throws(Flaw) -> String {
        isAsWritten ? characters.text : try characters.checked().text
    }

    private mutating func characterClass() throws(Flaw) -> CharacterRanges {
        let isNegated = take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while let character = peek, character != "]" {
            position += 1
            if !isAsWritten, character == "\\", let next = peek, let named = CharacterRanges.named(next) {
                position += 1
                ranges += named.ranges
                continue
            }
            let low = character == "\\" ? try escaped(as: "") : character
            var high = low
            if peek == "-", position + 1 < characters.count, characters[position + 1] != "]" {
                position += 1
                let end = characters[position]
                position += 1
                high = end == "\\" ? try escaped(as: "") : end
            }
            guard low <= high else { throw Flaw(reason: "has a range that ends before it begins") }
            ranges.append(low.value...high.value)
        }
        guard take("]") else { throw Flaw(reason: "has a class that is not closed") }
        let found = CharacterRanges(ranges)
        return isNegated ? found.inverted : found
    }

    private var peek: Unicode.Scalar? { position < characters.count ? characters[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == character else { return false }
        position += 1
        return true
    }
}

extension CharacterRanges {
    /// The characters that a JSON string contains only as an escape, and surrogates, which are no characters.
    private static let special = CharacterRanges([0...0x1F, 0x22...0x22, 0x5C...0x5C, 0x7F...0x7F, 0xD800...0xDFFF])
    fileprivate static let any = special.inverted

    fileprivate static func named(_ character: Unicode.Scalar) -> CharacterRanges? {
        let digits: [ClosedRange<UInt32>] = [0x30...0x39]
        let word = digits + [0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]
        let space: [ClosedRange<UInt32>] = [0x09...0x0D, 0x20...0x20]
        return switch character {
        case "d": CharacterRanges(digits)
        case "D": CharacterRanges(digits).inverted
        case "w": CharacterRanges(word)
        case "W": CharacterRanges(word).inverted
        case "s": CharacterRanges(space)
        case "S": CharacterRanges(space).inverted
        default: nil
        }
    }

    /// The characters that a JSON string may contain unescaped.
    fileprivate func checked() throws(SchemaExpression.Flaw) -> CharacterRanges {
        let usable = CharacterRanges(inverted.ranges + Self.special.ranges).inverted
        guard !usable.ranges.isEmpty else {
            throw SchemaExpression.Flaw(reason: "wants a character that JSON has to escape")
        }
        return usable
    }

    /// The characters in llama.cpp's notation.
    fileprivate var text: String {
        func escaped(_ value: UInt32) -> String {
            let digits = String(value, radix: 16, uppercase: true)
            if value < 0x80, let scalar = Unicode.Scalar(value),
                scalar.properties.isAlphabetic || value >= 0x30 && value <= 0x39
            {
                return String(Character(scalar))
            }
            let width = value < 0x100 ? 2 : value < 0x10000 ? 4 : 8
            let letter = width == 2 ? "x" : width == 4 ? "u" : "U"
            return "\\\(letter)" + String(repeating: "0", count: width - digits.count) + digits
        }
        let parts = ranges.map { range in
            range.count == 1
                ? escaped(range.lowerBound) : "\(escaped(range.lowerBound))-\(escaped(range.upperBound))"
        }
        return "[\(parts.joined())]"
    }
}
