/// A regular expression that a publisher may give: a part of the syntax everybody knows, matched in time that grows with
/// the text and the pattern only.
///
/// The pattern comes from outside. Engines that try one way after the other can be made to run for years by a dozen
/// characters (`(a+)+$`); this one follows all ways at once (Thompson, 1968) and knows nothing that would need more:
/// literals, `.`, `[a-z]`, `[^a-z]`, `\d \w \s \D \W \S`, `( )`, `(?: )`, `|`, `* + ? {m} {m,} {m,n}`, `^` and `$` for the
/// ends of the text, and `(?i)` at the beginning for small and capital letters alike. References back and looks around are
/// refused.
public struct CanaryPattern: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The longest pattern, in bytes.
    public static let maximumBytes = 512
    /// The most instructions a pattern may become; repetitions are written out.
    static let maximumInstructions = 4096

    /// The pattern as it was written.
    public let source: String
    private let program: [PatternInstruction]
    private let ignoresCase: Bool

    /// Reads a pattern, `nil` if it is empty, too long, or not of the syntax above.
    public init?(_ source: String) {
        guard (1...Self.maximumBytes).contains(source.utf8.count) else { return nil }
        let prefix = "(?i)"
        ignoresCase = source.hasPrefix(prefix)
        var parser = PatternParser(ignoresCase ? String(source.dropFirst(prefix.count)) : source)
        guard let node = parser.parse() else { return nil }
        var program: [PatternInstruction] = []
        guard node.emit(into: &program, limit: Self.maximumInstructions) else { return nil }
        program.append(.match)
        self.source = source
        self.program = program
    }

    public var description: String { source }

    public static func == (left: Self, right: Self) -> Bool { left.source == right.source }
    public func hash(into hasher: inout Hasher) { hasher.combine(source) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let pattern = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a pattern")
        }
        self = pattern
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(source)
    }

    /// Whether the text contains what the pattern describes. At most `text × program` steps.
    public func occurs(in text: String) -> Bool { search(text).hasMatched }

    /// The instructions it became.
    var instructionCount: Int { program.count }

    /// Whether it occurs, and how many instructions were looked at to find out: each at most once before every character, and
    /// once more at the end.
    func search(_ text: String) -> (hasMatched: Bool, steps: Int) {
        var threads = PatternThreads(program: program)
        var isAtStart = true
        for scalar in text.unicodeScalars {
            // A match may begin anywhere: one more way begins at every character.
            threads.add(0, isAtStart: isAtStart, isAtEnd: false)
            if threads.hasMatched { break }
            threads.advance { $0.accepts(scalar, ignoringCase: ignoresCase) }
            if threads.hasMatched { break }
            isAtStart = false
        }
        if !threads.hasMatched {
            threads.add(0, isAtStart: isAtStart, isAtEnd: true)
            threads.finish()
        }
        return (threads.hasMatched, threads.steps)
    }
}

/// A step of a compiled pattern.
enum PatternInstruction: Sendable, Hashable {
    case take(PatternSet)
    /// Goes on at both places.
    case split(Int, Int)
    case jump(Int)
    case textStart
    case textEnd
    case match
}

/// The characters one step takes.
struct PatternSet: Sendable, Hashable {
    var ranges: [ClosedRange<UInt32>]
    var isNegated = false

    func accepts(_ scalar: Unicode.Scalar, ignoringCase: Bool) -> Bool {
        var isMember = contains(scalar)
        if ignoringCase, !isMember {
            isMember = [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping].contains { mapping in
                mapping.unicodeScalars.count == 1 && mapping.unicodeScalars.first.map(contains) == true
            }
        }
        return isMember != isNegated
    }

    private func contains(_ scalar: Unicode.Scalar) -> Bool { ranges.contains { $0.contains(scalar.value) } }
}

extension PatternInstruction {
    fileprivate func accepts(_ scalar: Unicode.Scalar, ignoringCase: Bool) -> Bool {
        if case .take(let set) = self { set.accepts(scalar, ignoringCase: ignoringCase) } else { false }
    }
}

/// All the places of a program that the text read so far leads to, each once.
private struct PatternThreads {
    let program: [PatternInstruction]
    private var places: [Int] = []
    private var seen: [Bool]
    /// Places that wait for the end of the text.
    private var waiting: [Int] = []
    private(set) var hasMatched = false
    /// The instructions looked at so far.
    private(set) var steps = 0

    init(program: [PatternInstruction]) {
        self.program = program
        seen = Array(repeating: false, count: program.count)
    }

    /// Follows everything that takes no character.
    mutating func add(_ place: Int, isAtStart: Bool, isAtEnd: Bool) {
        var pending = [place]
        while let place = pending.popLast() {
            guard !seen[place] else { continue }
            seen[place] = true
            steps += 1
            switch program[place] {
            case .take: places.append(place)
            case .split(let one, let other): pending += [other, one]
            case .jump(let target): pending.append(target)
            case .textStart: if isAtStart { pending.append(place + 1) }
            case .textEnd: if isAtEnd { pending.append(place + 1) } else { waiting.append(place + 1) }
            case .match: hasMatched = true
            }
        }
    }

    /// Takes one character wherever that is possible.
    mutating func advance(_ accepts: (PatternInstruction) -> Bool) {
        let before = places
        places = []
        waiting = []
        for index in seen.indices { seen[index] = false }
        for place in before where accepts(program[place]) { add(place + 1, isAtStart: false, isAtEnd: false) }
    }

    /// The text has ended.
    mutating func finish() {
        for place in waiting { add(place, isAtStart: false, isAtEnd: true) }
    }
}
