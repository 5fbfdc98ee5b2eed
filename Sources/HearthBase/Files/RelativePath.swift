import Foundation

/// The path of a file inside a folder of its own, safe to join to that folder whoever sent it.
///
/// 1 to 16 names joined by `/`, each a ``PathComponent``, at most 1024 bytes in all: so it never leads out, is never
/// absolute, and never names nothing. Equality is that of Swift strings, as it is for components.
public struct RelativePath: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The most names a path may have.
    public static let maximumDepth = 16
    /// The most bytes a path may have, separators included.
    public static let maximumLength = 1024

    /// The names from the outermost folder to the file, never empty.
    public let components: [PathComponent]
    /// The names joined by `/`.
    public let string: String

    /// A file directly in the folder.
    public init(_ component: PathComponent) {
        components = [component]
        string = component.name
    }

    /// The path, `nil` when it is not safe.
    public init?(_ text: some StringProtocol) {
        guard (1...Self.maximumLength).contains(text.utf8.count) else { return nil }
        // By bytes: a separator that is followed by a combining mark is no separator to a Swift character.
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

    /// The file's own name, without folders.
    public var last: PathComponent { components[components.count - 1] }

    /// The folder the file lies in, `nil` if that is the folder the path is relative to.
    public var parent: RelativePath? {
        guard components.count > 1 else { return nil }
        return RelativePath(components.dropLast().map(\.name).joined(separator: "/"))
    }

    /// The folders on the way to the file, the outermost first.
    public var folders: [RelativePath] {
        var folders: [RelativePath] = []
        var next = parent
        while let folder = next {
            folders.append(folder)
            next = folder.parent
        }
        return folders.reversed()
    }

    /// The path beside this one whose name has a suffix, such as `.index`; `nil` where that is too long.
    public func withSuffix(_ suffix: String) -> RelativePath? { RelativePath(string + suffix) }

    /// What file systems that do not tell upper from lower case take for the same path; normalisation is that of Swift
    /// strings, which compare equal whichever is used.
    public var folded: String {
        // Both ways: some letters share an upper case that has another lower one (`ſ` and `s`).
        string.uppercased().lowercased()
    }

    public var description: String { string }

    public static func < (left: Self, right: Self) -> Bool { left.string < right.string }
}

extension RelativePath: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let path = RelativePath(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a path inside a folder")
        }
        self = path
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

/// Files that can lie in one folder together on any file system: none twice, none where another needs a folder, and no
/// folder in two spellings.
public struct DistinctPaths: Sendable {
    private enum Place {
        case file(RelativePath), folder(RelativePath)

        var path: RelativePath {
            switch self {
            case .file(let path), .folder(let path): path
            }
        }
    }
    private var places: [String: Place] = [:]

    /// No file yet.
    public init() {}

    /// Adds a file; returns the path it cannot lie beside, `nil` if it was added.
    public mutating func insert(_ path: RelativePath) -> RelativePath? {
        if let there = places[path.folded] { return there.path }
        for folder in path.folders {
            switch places[folder.folded] {
            case nil: break
            case .folder(let known) where known == folder: break
            case .folder(let known), .file(let known): return known
            }
        }
        for folder in path.folders { places[folder.folded] = .folder(folder) }
        places[path.folded] = .file(path)
        return nil
    }
}

extension Path {
    /// Joins a validated path.
    public func appending(_ path: RelativePath) -> Path { joined(path.string) }
}
