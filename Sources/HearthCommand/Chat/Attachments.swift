import Foundation
import HearthAssistant
import HearthBase
import HearthInference
import HearthRouting

/// What goes with the next message: pictures, and the texts of files.
struct Attachments: Sendable {
    var images: [ChatImage] = []
    private var files: [(name: String, text: String)] = []

    /// The most bytes of a file.
    static let largestFile = 256 << 10

    init(images: [ChatImage] = []) { self.images = images }

    /// Adds the text of a file. Its author may be another person, so that it counts as text from outside.
    /// - Throws: ``UsageError`` for a file that is no text; `FileError`.
    mutating func add(file name: String) async throws {
        let path = Path(FileCompletion.expandingHome(name)).absolute
        let data = try await blocking { try LocalFileSystem().contents(ofFile: path, limit: Self.largestFile) }
        guard let text = String(validating: data, as: UTF8.self), !text.utf8.contains(0) else {
            throw UsageError("\(name.quotedForTerminal) is no text", hint: "Pictures go with /image.")
        }
        files.append((path.lastComponent, text))
    }

    /// The message with the texts of the files.
    func message(_ text: String) -> String {
        ([text] + files.map { PromptMarks.marked($0.text, as: "file", source: "file \($0.name)") })
            .joined(separator: "\n\n")
    }
}
