/// A version by Semantic Versioning 2.0.0, with its precedence rules (section 11): build metadata does not count,
/// a pre-release comes before its release, numeric identifiers before words.
///
/// Major, minor and patch end at `UInt.max`; numeric pre-release identifiers may be of any length.
public struct SemanticVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    public let major: UInt
    public let minor: UInt
    public let patch: UInt
    /// The identifiers after `-`, such as `["rc", "1"]`.
    public let prerelease: [String]
    /// The identifiers after `+`; without influence on order or equality.
    public let build: [String]

    /// Makes a version of the given parts.
    public init(_ major: UInt, _ minor: UInt, _ patch: UInt, prerelease: [String] = [], build: [String] = []) {
        self.major = major
        self.minor = minor
        self.patch = patch
        self.prerelease = prerelease
        self.build = build
    }

    /// Reads `1.2.3`, `1.2.3-rc.1` or `1.2.3+build`; `nil` for other text.
    public init?(_ text: some StringProtocol) {
        let halves = Substring(text).split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        guard let version = halves.first else { return nil }
        let parts = version.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let core = parts.first else { return nil }
        let numbers = core.split(separator: ".", omittingEmptySubsequences: false).compactMap { Self.number($0) }
        guard numbers.count == 3, core.count(where: { $0 == "." }) == 2 else { return nil }

        var prerelease: [String] = []
        if parts.count == 2 {
            guard let identifiers = Self.identifiers(parts[1]) else { return nil }
            guard identifiers.allSatisfy({ !$0.allSatisfy(\.isASCIIDigit) || Self.isNumeric($0) }) else { return nil }
            prerelease = identifiers
        }
        var build: [String] = []
        if halves.count == 2 {
            guard let identifiers = Self.identifiers(halves[1]) else { return nil }
            build = identifiers
        }
        self.init(numbers[0], numbers[1], numbers[2], prerelease: prerelease, build: build)
    }

    public var description: String {
        var text = "\(major).\(minor).\(patch)"
        if !prerelease.isEmpty { text += "-" + prerelease.joined(separator: ".") }
        if !build.isEmpty { text += "+" + build.joined(separator: ".") }
        return text
    }

    public static func == (left: Self, right: Self) -> Bool { !(left < right) && !(right < left) }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(major)
        hasher.combine(minor)
        hasher.combine(patch)
        hasher.combine(prerelease)
    }

    public static func < (left: Self, right: Self) -> Bool {
        let numbers = ((left.major, left.minor, left.patch), (right.major, right.minor, right.patch))
        if numbers.0 != numbers.1 { return numbers.0 < numbers.1 }
        if left.prerelease.isEmpty || right.prerelease.isEmpty {
            return !left.prerelease.isEmpty && right.prerelease.isEmpty
        }
        for (one, other) in zip(left.prerelease, right.prerelease) where one != other {
            switch (isNumeric(one), isNumeric(other)) {
            // Without leading zeros the longer number is the greater one; the text may be longer than any integer.
            case (true, true) where one.utf8.count != other.utf8.count: return one.utf8.count < other.utf8.count
            case (true, false): return true
            case (false, true): return false
            default: return one.utf8.lexicographicallyPrecedes(other.utf8)
            }
        }
        return left.prerelease.count < right.prerelease.count
    }

    /// Whether the text is a number without leading zeros.
    private static func isNumeric(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.allSatisfy(\.isASCIIDigit) && (text == "0" || text.first != "0")
    }

    private static func number(_ text: Substring) -> UInt? { isNumeric(text) ? UInt(text) : nil }

    private static func identifiers(_ text: Substring) -> [String]? {
        let identifiers = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let isValid = identifiers.allSatisfy { identifier in
            !identifier.isEmpty && identifier.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }
        return isValid ? identifiers : nil
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
