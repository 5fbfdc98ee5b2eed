import Foundation
import HearthBase

/// The user's own editor, from `VISUAL` or `EDITOR`.
struct ExternalEditor: Sendable {
    /// The command with its options, as the shell reads it.
    let command: String
    private let environment: [String: String]

    /// - Returns: `nil` if the environment names no editor.
    init?(environment: [String: String]) {
        guard
            let command = [environment["VISUAL"], environment["EDITOR"]].compactMap(\.self).first(where: { !$0.isEmpty }
            )
        else { return nil }
        self.command = command
        self.environment = environment
    }

    /// The most bytes of an edited text.
    private static let largest = 1 << 20

    /// Lets the user edit a text. Blocks until the editor ends.
    /// - Parameter suffix: ends the name of the file, such as `.json`.
    /// - Returns: the edited text; `nil` if the editor failed.
    /// - Throws: `FileError`.
    func edited(_ text: String, suffix: String) throws -> String? {
        let system = LocalFileSystem()
        let folder = Path("\(FileManager.default.temporaryDirectory.path)/hearth-\(UUID().uuidString)")
        try system.makeFolders(folder, permissions: 0o700)
        // What stays behind is in a folder of the user's alone.
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        let file = Path("\(folder.string)/text\(suffix)")
        try Data(text.utf8).write(to: file.url)
        guard try run(file) == 0 else { return nil }
        return String(validating: try system.contents(ofFile: file, limit: Self.largest), as: UTF8.self)
    }

    /// Runs the editor on the file, in this process's group so that it may read the terminal.
    /// - Returns: its exit status.
    private func run(_ file: Path) throws -> Int32 {
        let words = ["/bin/sh", "-c", "\(command) \"$1\"", "hearth", file.string]
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, "/bin/sh", nil, nil, arguments, variables)
        guard failure == 0 else { throw FileError(errno: failure, doing: "start", path: Path("/bin/sh")) }
        var ended: Int32 = 0
        while waitpid(process, &ended, 0) == -1 { if errno != EINTR { return -1 } }
        return ended
    }
}
