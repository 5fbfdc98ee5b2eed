import Foundation

/// The path of a file inside a folder. It is safe to join to that folder, also if it comes from outside.
///
/// A path has 1 to 16 names joined by `/`, each a ``PathComponent``, and at most 1024 bytes. So it is never absolute or
/// empty, and never leaves the folder. Equality is that of Swift strings, as for components.
package struct RelativePath: CodedAsText, Sendable, Hashable, Comparable {
    /// The most names of a path.
    package static let maximumDepth = 16
    /// The most bytes of a path, separators included.
    package static let maximumLength = 1024

    /// The names from the outermost folder to the file, never empty.
    package let components: [PathComponent]
    /// The names joined by `/`.
    package let string: String

    /// Makes the path of a file directly in the folder.
    package init(_ component: PathComponent) {
        components = [component]
        string = component.name
    }

    /// Makes a path, `nil` if it is not safe.
    package init?(_ text: some StringProtocol) {
        guard (1...Self.maximumLength).contains(text.utf8.count) else { return nil }
        // Splits bytes, because a Swift character joins a separator with a combining mark after it.
        let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard names.count <= Self.maximumDepth else { return nil }
        var components: [PathComponent] = []
        for name in names {
            guard let component = PathComponent(String(decoding: name, as: UTF8.self)) else { return nil }
            components.append(component)
        }
        self.components = components
        string = String(text)
    }

    /// The file's own name.
    package var last: PathComponent { components[components.count - 1] }

    /// The file's folder, `nil` if that is the folder the path is relative to.
    package var parent: RelativePath? {
        guard components.count > 1 else { return nil }
        return RelativePath(components.dropLast().map(\.name).joined(separator: "/"))
    }

    /// The folders above the file, the outermost first.
    package var folders: [RelativePath] {
        var folders: [RelativePath] = []
        var next = parent
        while let folder = next {
            folders.append(folder)
            next = folder.parent
        }
        return folders.reversed()
    }

    /// The path with a suffix at its name, such as `.index`; `nil` if that is too long.
    package func withSuffix(_ suffix: String) -> RelativePath? { RelativePath(string + suffix) }

    /// The same text for all paths that case-insensitive file systems treat as one file. Swift's comparison of strings
    /// handles normalisation.
    package var folded: String {
        // Both conversions: some letters have the same upper case as a letter with another lower case (`ſ` and `s`).
        string.uppercased().lowercased()
    }

    package var description: String { string }

    package static func < (left: Self, right: Self) -> Bool { left.string < right.string }
}

/// A set of paths that can exist together on any file system: no duplicates, no file in place of a folder, and no
/// folder in two spellings.
package struct DistinctPaths: Sendable {
    private var places: [String: (path: RelativePath, isFolder: Bool)] = [:]

    /// An empty set of paths.
    package init() {}

    /// Adds a file; returns the path it collides with, `nil` if it was added.
    package mutating func insert(_ path: RelativePath) -> RelativePath? {
        if let there = places[path.folded] { return there.path }
        for folder in path.folders {
            if let known = places[folder.folded], !known.isFolder || known.path != folder { return known.path }
        }
        for folder in path.folders { places[folder.folded] = (folder, true) }
        places[path.folded] = (path, false)
        return nil
    }
}

extension Path {
    /// Joins a checked path.
    package func appending(_ path: RelativePath) -> Path { joined(path.string) }
}
