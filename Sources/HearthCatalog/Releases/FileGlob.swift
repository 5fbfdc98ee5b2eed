/// A pattern of file paths with the rules of Python's `fnmatch` and of `allow_patterns` in `huggingface_hub`. `*`
/// stands for any characters including `/`, `?` for one character, `[abc]`, `[a-z]` and `[!a]` for one of a set. Case
/// counts. A pattern that ends in `/` means everything below that folder.
package struct FileGlob: Sendable, Hashable {
    private enum Piece: Sendable, Hashable {
        case character(Unicode.Scalar)
        case any
        case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)
        case anything
    }

    /// The pattern as it was written.
    package let pattern: String
    private let pieces: [Piece]

    /// Parses a pattern; every text is valid.
    package init(_ pattern: String) {
        self.pattern = pattern
        pieces = Self.pieces(Array((pattern.hasSuffix("/") ? pattern + "*" : pattern).unicodeScalars))
    }

    /// Whether a text is a pattern rather than the name of one file.
    package static func isPattern(_ text: String) -> Bool {
        text.hasSuffix("/") || text.contains { "*?[".contains($0) }
    }

    private static func pieces(_ pattern: [Unicode.Scalar]) -> [Piece] {
        var pieces: [Piece] = []
        var index = 0
        while index < pattern.count {
            let scalar = pattern[index]
            index += 1
            switch scalar {
            case "*": if pieces.last != .anything { pieces.append(.anything) }
            case "?": pieces.append(.any)
            case "[":
                guard let end = endOfSet(pattern, from: index) else {
                    pieces.append(.character(scalar))
                    continue
                }
                pieces.append(set(pattern[index..<end]))
                index = end + 1
            default: pieces.append(.character(scalar))
            }
        }
        return pieces
    }

    /// The index of the closing bracket; a bracket at the beginning belongs to the set.
    private static func endOfSet(_ pattern: [Unicode.Scalar], from start: Int) -> Int? {
        var index = start
        if index < pattern.count, pattern[index] == "!" { index += 1 }
        if index < pattern.count, pattern[index] == "]" { index += 1 }
        return pattern[min(index, pattern.count)...].firstIndex(of: "]")
    }

    private static func set(_ text: ArraySlice<Unicode.Scalar>) -> Piece {
        var rest = text
        let isNegated = rest.first == "!"
        if isNegated { rest = rest.dropFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let first = rest.popFirst() {
            guard rest.first == "-", let last = rest.dropFirst().first else {
                ranges.append(first...first)
                continue
            }
            rest = rest.dropFirst(2)
            // A reversed range is empty.
            if first <= last { ranges.append(first...last) }
        }
        return .set(ranges, isNegated: isNegated)
    }

    /// Whether a path matches. Takes at most as many steps as the product of both lengths.
    package func matches(_ path: String) -> Bool {
        let text = Array(path.unicodeScalars)
        var (piece, place) = (0, 0)
        var retry: (piece: Int, place: Int)?
        while place < text.count {
            if piece < pieces.count, pieces[piece] == .anything {
                piece += 1
                retry = (piece, place)
            } else if piece < pieces.count, Self.fits(pieces[piece], text[place]) {
                piece += 1
                place += 1
            } else if let again = retry {
                // The last star takes one more character; earlier stars need no retry.
                retry = (again.piece, again.place + 1)
                (piece, place) = (again.piece, again.place + 1)
            } else {
                return false
            }
        }
        return pieces[piece...].allSatisfy { $0 == .anything }
    }

    private static func fits(_ piece: Piece, _ scalar: Unicode.Scalar) -> Bool {
        switch piece {
        case .character(let other): other == scalar
        case .any: true
        case .set(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
        case .anything: false
        }
    }
}
