import Foundation
import HearthBase

/// The lines typed in earlier conversations, in a file that only its owner can read: one JSON string a line, oldest first.
struct LineHistory: Sendable {
    static let maximumEntries = 1000
    /// The longest line that is kept, in bytes.
    static let longestEntry = 8 << 10
    private static let largestFile = 4 << 20

    let path: Path
    var fileSystem: any FileSystem = LocalFileSystem()

    /// The lines, oldest first; empty if the file cannot be read. Blocks.
    func entries() -> [String] {
        // A history is a convenience: without one, the conversation works.
        guard let data = try? fileSystem.contents(ofFile: path, limit: Self.largestFile) else { return [] }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        return lines.suffix(Self.maximumEntries).compactMap { line -> String? in
            // A line that another program has damaged is skipped.
            guard case .string(let text) = try? JSONValue(parsing: Data(line.utf8)) else { return nil }
            return text
        }
    }

    /// Adds a line, unless it is the last one already. Blocks.
    func append(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.longestEntry else { return }
        var entries = entries()
        guard entries.last != text else { return }
        entries.append(text)
        let lines = entries.suffix(Self.maximumEntries).map { JSONValue.string($0).text + "\n" }
        do {
            try fileSystem.replaceContents(of: path, with: Data(lines.joined().utf8), permissions: 0o600)
        } catch {
            Log.write(.info, "the history of the chat is not saved", [.path(path), .error(error)])
        }
    }
}
