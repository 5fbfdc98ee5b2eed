import HearthBase

/// The characters of a class in a regular expression, as the dialects of regular expressions read it.
///
/// JSON Schema means ECMAScript's expressions, but the programs that check answers often use those of Python, Java or
/// ICU, in which `\d`, `\w` and `.` mean more. A grammar writes only what all of them accept.
struct PatternSet: Sendable, Hashable {
    /// The characters in ECMAScript.
    var exact: CharacterRanges
    /// The characters in every dialect.
    var narrow: CharacterRanges
    /// The characters in any dialect.
    var wide: CharacterRanges

    init(exact: CharacterRanges, narrow: CharacterRanges? = nil, wide: CharacterRanges? = nil) {
        self.exact = exact
        self.narrow = narrow ?? exact
        self.wide = wide ?? exact
    }

    var inverted: PatternSet {
        PatternSet(exact: exact.inverted, narrow: wide.inverted, wide: narrow.inverted)
    }

    func union(_ other: PatternSet) -> PatternSet {
        PatternSet(
            exact: exact.union(other.exact), narrow: narrow.union(other.narrow), wide: wide.union(other.wide))
    }

    /// The same letters in both cases.
    var ignoringCase: PatternSet {
        PatternSet(exact: Self.bothCases(exact), narrow: Self.bothCases(narrow), wide: Self.bothCases(wide))
    }

    private static func bothCases(_ set: CharacterRanges) -> CharacterRanges {
        var added: [ClosedRange<UInt32>] = []
        for range in set.ranges where range.count <= 0x400 {
            for value in range {
                for other in otherCases[value] ?? [] { added.append(other...other) }
            }
        }
        return CharacterRanges(set.ranges + added)
    }

    /// The letters with another case, each with the single characters of its other cases.
    private static let otherCases: [UInt32: [UInt32]] = {
        var found: [UInt32: [UInt32]] = [:]
        for value in UInt32(0)..<0x1_F000 {
            guard let character = Unicode.Scalar(value), character.properties.changesWhenCaseMapped else { continue }
            let cases = [character.properties.lowercaseMapping, character.properties.uppercaseMapping]
            let others = cases.map { Array($0.unicodeScalars) }.filter { $0.count == 1 && $0[0] != character }
            if !others.isEmpty { found[value] = others.map { $0[0].value } }
        }
        return found
    }()

    // MARK: Named classes

    private static let asciiDigits = CharacterRanges([0x30...0x39])
    private static let asciiWord = CharacterRanges([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    private static let everyDigit = CharacterRanges { $0.properties.generalCategory == .decimalNumber }
    private static let everyWord = CharacterRanges {
        switch $0.properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber, .connectorPunctuation, .nonspacingMark, .spacingMark,
            .enclosingMark:
            true
        default: $0.properties.isAlphabetic || $0.value == 0x200C || $0.value == 0x200D
        }
    }
    private static let space = CharacterRanges([
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    private static let everySpace = space.union(CharacterRanges([0x1C...0x1F, 0x85...0x85, 0x180E...0x180E]))
    private static let lineEnds = CharacterRanges([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029])

    static let digit = PatternSet(exact: asciiDigits, wide: everyDigit)
    static let word = PatternSet(exact: asciiWord, wide: everyWord)
    static let blank = PatternSet(
        exact: space, narrow: CharacterRanges([0x09...0x0A, 0x0D...0x0D, 0x20...0x20]), wide: everySpace)
    static let any = PatternSet(exact: .all)
    /// `.`: no end of a line.
    static let dot = PatternSet(
        exact: lineEnds.inverted, narrow: lineEnds.union(CharacterRanges([0x0B...0x0C, 0x85...0x85])).inverted,
        wide: .all)

    /// The class of a letter after a backslash; `nil` for other letters.
    static func named(_ letter: Unicode.Scalar) -> PatternSet? {
        switch letter {
        case "d": digit
        case "D": digit.inverted
        case "w": word
        case "W": word.inverted
        case "s": blank
        case "S": blank.inverted
        default: nil
        }
    }

    // MARK: Properties of Unicode

    /// The characters with a property such as `L`, `Lu` or `gc=Nd`; `nil` for a property that is not known.
    static func property(_ text: String) -> PatternSet? {
        var name = text.split(separator: "=").last.map(String.init) ?? ""
        if name.hasPrefix("Is") { name.removeFirst(2) }
        if let script = scripts[name] {
            let letters = CharacterRanges(script)
            return PatternSet(exact: letters.union(CharacterRanges([0xA0...0x10FFFF])), narrow: letters, wide: .all)
        }
        if let made = made.withLock({ $0[name] }) { return made }
        let set = computed(name)
        if let set { made.withLock { $0[name] = set } }
        return set
    }

    /// The properties that were computed, because an expression may name one a thousand times.
    private static let made = Locked<[String: PatternSet]>([:])

    private static func computed(_ name: String) -> PatternSet? {
        switch name {
        case "Any": return any
        case "ASCII": return PatternSet(exact: CharacterRanges([0...0x7F]))
        case "Alphabetic", "Alpha": return PatternSet(exact: CharacterRanges { $0.properties.isAlphabetic })
        case "Lowercase", "Lower": return PatternSet(exact: CharacterRanges { $0.properties.isLowercase })
        case "Uppercase", "Upper": return PatternSet(exact: CharacterRanges { $0.properties.isUppercase })
        case "White_Space", "Space": return blank
        case "Digit": return PatternSet(exact: everyDigit)
        case "Alnum": return PatternSet(exact: everyDigit.union(CharacterRanges { $0.properties.isAlphabetic }))
        case "Punct": return property("P")
        default: break
        }
        let short = longNames[name] ?? name
        guard (1...2).contains(short.count), categories.contains(where: { $0.0.hasPrefix(short) }) else { return nil }
        let wanted = Set(categories.filter { $0.0.hasPrefix(short) }.map(\.1))
        return PatternSet(exact: CharacterRanges { wanted.contains($0.properties.generalCategory) })
    }

    private static let longNames = [
        "Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Number": "N", "Decimal_Number": "Nd",
        "Punctuation": "P", "Symbol": "S", "Separator": "Z", "Mark": "M", "Control": "Cc", "Other": "C",
        "Space_Separator": "Zs", "Currency_Symbol": "Sc", "Dash_Punctuation": "Pd",
    ]
    private static let categories: [(String, Unicode.GeneralCategory)] = [
        ("Lu", .uppercaseLetter), ("Ll", .lowercaseLetter), ("Lt", .titlecaseLetter), ("Lm", .modifierLetter),
        ("Lo", .otherLetter), ("Mn", .nonspacingMark), ("Mc", .spacingMark), ("Me", .enclosingMark),
        ("Nd", .decimalNumber), ("Nl", .letterNumber), ("No", .otherNumber), ("Pc", .connectorPunctuation),
        ("Pd", .dashPunctuation), ("Ps", .openPunctuation), ("Pe", .closePunctuation), ("Pi", .initialPunctuation),
        ("Pf", .finalPunctuation), ("Po", .otherPunctuation), ("Sm", .mathSymbol), ("Sc", .currencySymbol),
        ("Sk", .modifierSymbol), ("So", .otherSymbol), ("Zs", .spaceSeparator), ("Zl", .lineSeparator),
        ("Zp", .paragraphSeparator), ("Cc", .control), ("Cf", .format), ("Co", .privateUse), ("Cn", .unassigned),
    ]
    /// Letters that certainly belong to a script.
    private static let scripts: [String: [ClosedRange<UInt32>]] = [
        "Latin": [0x41...0x5A, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x17F],
        "Greek": [0x391...0x3A1, 0x3A3...0x3C9], "Cyrillic": [0x410...0x44F], "Han": [0x4E00...0x9FA5],
        "Hiragana": [0x3041...0x3096], "Katakana": [0x30A1...0x30FA], "Hangul": [0xAC00...0xD7A3],
        "Arabic": [0x621...0x63A, 0x641...0x64A], "Hebrew": [0x5D0...0x5EA], "Thai": [0xE01...0xE30],
        "Devanagari": [0x905...0x939],
    ]
}
