/// A pattern as it was read.
indirect enum PatternNode: Sendable, Hashable {
    case empty
    case take(PatternSet)
    case textStart
    case textEnd
    case sequence([PatternNode])
    case either([PatternNode])
    /// `most` is `nil` for any number.
    case repeated(PatternNode, least: Int, most: Int?)

    /// Appends what this node does; `false` once there are more than `limit` instructions.
    func emit(into program: inout [PatternInstruction], limit: Int) -> Bool {
        guard program.count < limit else { return false }
        switch self {
        case .empty: return true
        case .take(let set): program.append(.take(set))
        case .textStart: program.append(.textStart)
        case .textEnd: program.append(.textEnd)
        case .sequence(let nodes):
            for node in nodes { guard node.emit(into: &program, limit: limit) else { return false } }
        case .either(let nodes): return Self.emit(either: nodes[...], into: &program, limit)
        case .repeated(let node, let least, let most):
            for _ in 0..<least {
                let before = program.count
                guard node.emit(into: &program, limit: limit) else { return false }
                // Nothing, however often it is written out: nested, that could go on for ever without reaching the limit.
                if program.count == before { break }
            }
            guard let most else {
                let start = program.count
                program.append(.match)
                guard node.emit(into: &program, limit: limit) else { return false }
                program.append(.jump(start))
                program[start] = .split(start + 1, program.count)
                return program.count <= limit
            }
            var skips: [Int] = []
            for _ in least..<max(least, most) {
                skips.append(program.count)
                program.append(.match)
                guard node.emit(into: &program, limit: limit) else { return false }
            }
            for skip in skips { program[skip] = .split(skip + 1, program.count) }
        }
        return program.count <= limit
    }

    private static func emit(
        either nodes: ArraySlice<PatternNode>, into program: inout [PatternInstruction], _ limit: Int
    ) -> Bool {
        var ends: [Int] = []
        for (index, node) in zip(nodes.indices, nodes) {
            let start = program.count
            let isLast = index == nodes.endIndex - 1
            if !isLast { program.append(.match) }
            guard node.emit(into: &program, limit: limit) else { return false }
            guard !isLast else { break }
            ends.append(program.count)
            program.append(.match)
            program[start] = .split(start + 1, program.count)
        }
        for end in ends { program[end] = .jump(program.count) }
        return program.count <= limit
    }
}

/// Reads the syntax of ``CanaryPattern``.
struct PatternParser {
    private static let maximumDepth = 32
    private static let maximumRepeats = 256

    private var rest: Substring.UnicodeScalarView
    private var depth = 0

    init(_ text: String) { rest = Substring(text).unicodeScalars }

    /// The whole pattern, `nil` if something in it is not understood.
    mutating func parse() -> PatternNode? {
        guard let node = either(), rest.isEmpty else { return nil }
        return node
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func either() -> PatternNode? {
        guard depth < Self.maximumDepth else { return nil }
        depth += 1
        defer { depth -= 1 }
        var branches: [PatternNode] = []
        repeat {
            guard let branch = sequence() else { return nil }
            branches.append(branch)
        } while take("|")
        return branches.count == 1 ? branches[0] : .either(branches)
    }

    private mutating func sequence() -> PatternNode? {
        var nodes: [PatternNode] = []
        while let next = rest.first, next != "|", next != ")" {
            guard let atom = atom(), let node = repeats(of: atom) else { return nil }
            nodes.append(node)
        }
        return nodes.isEmpty ? .empty : .sequence(nodes)
    }

    private mutating func repeats(of atom: PatternNode) -> PatternNode? {
        guard let next = rest.first, "*+?{".unicodeScalars.contains(next) else { return atom }
        // An end of the text is there once or not.
        if atom == .textStart || atom == .textEnd { return nil }
        rest.removeFirst()
        var bounds: (least: Int, most: Int?)
        switch next {
        case "*": bounds = (0, nil)
        case "+": bounds = (1, nil)
        case "?": bounds = (0, 1)
        default:
            guard let least = number() else { return nil }
            bounds = (least, least)
            if take(",") { bounds.most = rest.first == "}" ? nil : number() ?? -1 }
            guard take("}"), bounds.most.map({ $0 >= least }) ?? true else { return nil }
        }
        // Whether it takes as much or as little as it can makes no difference to whether it occurs.
        _ = take("?")
        if let next = rest.first, "*+?{".unicodeScalars.contains(next) { return nil }
        return .repeated(atom, least: bounds.least, most: bounds.most)
    }

    private mutating func number() -> Int? {
        var digits = ""
        while let next = rest.first, next.isASCIIDigit, digits.utf8.count < 4 {
            digits.unicodeScalars.append(next)
            rest.removeFirst()
        }
        guard let number = Int(digits), number <= Self.maximumRepeats else { return nil }
        return number
    }

    private mutating func atom() -> PatternNode? {
        guard let next = rest.popFirst() else { return nil }
        switch next {
        case "(":
            if take("?") { guard take(":") else { return nil } }
            guard let inner = either(), take(")") else { return nil }
            return inner
        case "[": return members().map { .take($0) }
        case ".": return .take(PatternSet(ranges: [10...10, 13...13], isNegated: true))
        case "^": return .textStart
        case "$": return .textEnd
        case "\\": return escaped().map { .take($0) }
        case "*", "+", "?", "{", "}", "]": return nil
        default: return .take(PatternSet(ranges: [next.value...next.value]))
        }
    }

    /// What stands behind a backslash: a class, a control character, or punctuation that means itself.
    private mutating func escaped() -> PatternSet? {
        guard let next = rest.popFirst() else { return nil }
        let digits: [ClosedRange<UInt32>] = [48...57]
        let word: [ClosedRange<UInt32>] = [48...57, 65...90, 95...95, 97...122]
        let space: [ClosedRange<UInt32>] = [9...13, 32...32, 0xA0...0xA0]
        switch next {
        case "d": return PatternSet(ranges: digits)
        case "D": return PatternSet(ranges: digits, isNegated: true)
        case "w": return PatternSet(ranges: word)
        case "W": return PatternSet(ranges: word, isNegated: true)
        case "s": return PatternSet(ranges: space)
        case "S": return PatternSet(ranges: space, isNegated: true)
        case "n": return PatternSet(ranges: [10...10])
        case "r": return PatternSet(ranges: [13...13])
        case "t": return PatternSet(ranges: [9...9])
        default:
            guard next.isASCII, !next.isASCIIDigit, !next.properties.isAlphabetic else { return nil }
            return PatternSet(ranges: [next.value...next.value])
        }
    }

    /// What stands between brackets.
    private mutating func members() -> PatternSet? {
        var set = PatternSet(ranges: [], isNegated: take("^"))
        var isFirst = true
        while let next = rest.popFirst() {
            if next == "]", !isFirst { return set }
            isFirst = false
            guard let one = member(next) else { return nil }
            guard one.count == 1, let low = one.first, low.count == 1, rest.first == "-",
                rest.dropFirst().first != "]"
            else {
                set.ranges += one
                continue
            }
            rest.removeFirst()
            guard let end = rest.popFirst(), let high = member(end), high.count == 1, let last = high.first,
                last.count == 1, low.lowerBound <= last.lowerBound
            else { return nil }
            set.ranges.append(low.lowerBound...last.lowerBound)
        }
        return nil
    }

    private mutating func member(_ next: Unicode.Scalar) -> [ClosedRange<UInt32>]? {
        guard next == "\\" else { return [next.value...next.value] }
        guard let set = escaped(), !set.isNegated else { return nil }
        return set.ranges
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
