import Foundation

/// A name inside a folder. It is safe to join to a path, also if it comes from outside.
///
/// A name is not empty and has at most 255 bytes. It contains no separator (`/` or `\`), is not `.` or `..`, and has no
/// control characters such as NUL. It has no invisible characters with which a person would read another name:
/// directional and other format characters, line and paragraph separators. Equality is that of Swift strings, so names
/// that differ only in Unicode normalisation are equal, as on Apple's file systems.
package struct PathComponent: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let name: String

    /// Makes a component, `nil` if the name is not safe.
    package init?(_ name: some StringProtocol) {
        let bytes = name.utf8
        guard (1...255).contains(bytes.count), name != ".", name != ".." else { return nil }
        guard !name.unicodeScalars.contains(where: Self.isForbidden) else { return nil }
        self.name = String(name)
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: scalar == "/" || scalar == "\\"
        }
    }

    package var description: String { name }

    package static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

/// A path in the file system. Names from outside are joined only as ``PathComponent``.
///
/// All operations are lexical and count bytes; only ``absolute`` and ``url`` read the state of the machine.
public struct Path: CodedAsText, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The text for the system, without separators at its end.
    public let string: String

    /// Makes a path of trusted text: the user's command line, the environment, or a constant.
    public init(_ string: String) {
        let end = string.utf8.lastIndex { $0 != Self.separator }
        guard let end else {
            self.string = string.isEmpty ? "" : "/"
            return
        }
        self.string = String(Substring(string.utf8[...end]))
    }

    /// Joins a checked name.
    package func appending(_ component: PathComponent) -> Path { joined(component.name) }

    /// Joins names written in this source code.
    public func appending(_ name: StaticString) -> Path { joined(name.description) }

    /// This path with a suffix, such as `.part`.
    public func withSuffix(_ suffix: String) -> Path { Path(string + suffix) }

    /// The parent folder of this path: `.` for a bare name, `/` for the root itself, `../..` for `..`.
    public var parent: Path {
        let last = lastComponent
        if last == ".." { return joined("..") }
        let rest = string.utf8.dropLast(last.utf8.count)
        if rest.isEmpty { return Path(string == "/" ? "/" : ".") }
        return Path(String(Substring(rest)))
    }

    /// A path in the same folder.
    package func sibling(_ name: PathComponent) -> Path {
        string.contains("/") ? parent.appending(name) : Path(name.name)
    }

    /// The last name; `/` for the root.
    public var lastComponent: String {
        guard let separator = string.utf8.lastIndex(of: Self.separator), string != "/" else { return string }
        return String(Substring(string.utf8[string.utf8.index(after: separator)...]))
    }

    /// The part of the last name after its last point, lower-case, without the point; empty for a name like `.profile`.
    public var fileExtension: String {
        let name = lastComponent.utf8
        guard let point = name.lastIndex(of: UInt8(ascii: ".")), point != name.startIndex else { return "" }
        return String(Substring(name[name.index(after: point)...])).lowercased()
    }

    /// This path made absolute with the working directory, without `.` and empty names.
    ///
    /// Symbolic links are not resolved, so `..` stays: removing it after a link would change the target.
    public var absolute: Path {
        let start = string.utf8.first == Self.separator ? "" : FileManager.default.currentDirectoryPath + "/"
        let names = (start + string).utf8.split(separator: Self.separator).map { String(Substring($0)) }
        return Path("/" + names.filter { $0 != "." }.joined(separator: "/"))
    }

    /// The path as a file URL.
    public var url: URL { URL(fileURLWithPath: string) }

    public var description: String { string }

    /// Joins a single name, such as an entry of a listed folder.
    package func joined(_ name: String) -> Path {
        switch string {
        case "/": Path("/" + name)
        case "": Path(name)
        default: Path(string + "/" + name)
        }
    }

    private static let separator = UInt8(ascii: "/")
}
