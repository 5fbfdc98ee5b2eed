import Foundation
import HearthBase

/// The codes that each sign one browser in, once.
///
/// A code is short, so that a person can type it: 40 random bits, which ``CodeAttempts`` keeps from being found by trying.
package struct OneTimeCodes: Sendable {
    /// The work that a code is for.
    package enum Use: Sendable, Hashable {
        /// Printed for the owner: it signs in, and confirms a new key.
        case printed
        /// Displayed by a signed-in page: it signs in, and confirms nothing.
        case displayed
    }

    /// The reason to refuse a code.
    package enum Refusal: Error, Sendable, Hashable {
        case wrong, used, old
        /// The caller tried too often, and may try again after some seconds.
        case tooOften(seconds: Int)
    }

    /// How long a code works, by its use.
    package static func lifetime(_ use: Use) -> Duration { use == .printed ? .seconds(3600) : .seconds(600) }

    /// The most codes that work at the same time, and the most of earlier ones that are remembered.
    private static let (limit, rememberedLimit) = (64, 256)
    /// Digits and letters without those that look alike.
    private static let letters = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    private var codes: [SHA256Digest: (end: Duration, use: Use)] = [:]
    /// Why earlier codes work no more, the last ones at the end.
    private var gone: [(digest: SHA256Digest, refusal: Refusal)] = []

    package init() {}

    /// Makes a code such as `7KQM-4T2X`.
    package mutating func make(_ use: Use = .printed, at now: Duration) -> String {
        expire(at: now)
        if codes.count >= Self.limit, let oldest = codes.min(by: { $0.value.end < $1.value.end })?.key {
            end(oldest, .old)
        }
        var generator = SystemRandomNumberGenerator()
        let text = String((0..<8).map { _ in Self.letters[Int(generator.next() >> 59)] })
        codes[Self.digest(text)] = (now + Self.lifetime(use), use)
        return "\(text.prefix(4))-\(text.suffix(4))"
    }

    /// Checks a code, and leaves it as it is.
    package mutating func check(_ code: String, at now: Duration) throws(Refusal) {
        expire(at: now)
        let digest = Self.digest(Self.normalised(code))
        guard codes[digest] == nil else { return }
        throw gone.last { $0.digest == digest }?.refusal ?? .wrong
    }

    /// Uses a code up.
    /// - Parameter isPrinted: whether a displayed code does not suffice; it stays as it is.
    package mutating func spend(_ code: String, isPrinted: Bool = false, at now: Duration) throws(Refusal) {
        try check(code, at: now)
        let digest = Self.digest(Self.normalised(code))
        guard !isPrinted || codes[digest]?.use == .printed else { throw .wrong }
        end(digest, .used)
    }

    private mutating func expire(at now: Duration) {
        for digest in codes.filter({ $0.value.end <= now }).keys { end(digest, .old) }
    }

    private mutating func end(_ digest: SHA256Digest, _ refusal: Refusal) {
        codes.removeValue(forKey: digest)
        gone.append((digest, refusal))
        if gone.count > Self.rememberedLimit { gone.removeFirst() }
    }

    /// The code in what a person types or pastes: a code, or the address with one. Case, hyphens and blanks do not count,
    /// and letters that look like digits are these digits.
    static func normalised(_ text: String) -> String {
        var text = text[...]
        if let start = text.range(of: "code=", options: .backwards)?.upperBound { text = text[start...] }
        let kept = text.prefix { $0 != "&" && $0 != "#" }.uppercased().filter { $0.isLetter || $0.isNumber }
        return String(
            kept.map { letter in
                switch letter {
                case "O": "0"
                case "I", "L": "1"
                default: letter
                }
            })
    }

    private static func digest(_ text: String) -> SHA256Digest { SHA256Digest(hashing: Data(text.utf8)) }
}
