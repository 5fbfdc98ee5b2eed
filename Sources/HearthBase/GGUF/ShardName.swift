/// The name of one part of a split model: `{stem}-00001-of-00003.gguf`.
package struct ShardName: Sendable, Hashable {
    /// The path without number and extension.
    package let stem: String
    /// Counted from 1.
    package let number: Int
    package let count: Int

    /// The most parts of a model.
    package static let maximumCount = 512

    /// The parts of a path's name, `nil` if it is not the name of a part.
    package init?(_ path: RelativePath) {
        guard let match = path.string.wholeMatch(of: /(.+)-([0-9]{5})-of-([0-9]{5})\.[A-Za-z]+/),
            let number = Int(match.2), let count = Int(match.3), (1...Self.maximumCount).contains(count),
            (1...count).contains(number)
        else { return nil }
        stem = String(match.1)
        self.number = number
        self.count = count
    }

    /// The paths of all parts, in order, in the same folder.
    /// - Parameter path: the file with this name.
    package func paths(beside path: Path) -> [Path] {
        (1...count).compactMap { number in
            PathComponent("\(stem)\(Self.suffix(number, of: count)).gguf").map(path.sibling)
        }
    }

    /// The text between a part's stem and its extension: `-00001-of-00003`. Engines find the other parts by it.
    package static func suffix(_ number: Int, of count: Int) -> String {
        func digits(_ number: Int) -> String { String(repeating: "0", count: 5 - "\(number)".count) + "\(number)" }
        return "-\(digits(number))-of-\(digits(count))"
    }
}
