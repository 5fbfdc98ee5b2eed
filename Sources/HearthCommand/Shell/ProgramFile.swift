import Foundation
import HearthBase

/// The file of this program.
enum ProgramFile {
    /// Its path, for units and processes that start it again.
    static func path() throws -> String {
        #if os(Linux)
        return try LocalFileSystem().readLink(Path("/proc/self/exe"))
        #else
        return Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }
}

extension CommandContext {
    /// Writes units of systemd's user manager, and prints their paths and how to start one.
    func installUnits(_ units: KeyValuePairs<String, String>, starting name: String) async throws {
        let folder: Path
        if let configuration = environment["XDG_CONFIG_HOME"], configuration.hasPrefix("/") {
            folder = Path(configuration).appending("systemd").appending("user")
        } else {
            folder = Path((environment["HOME"] ?? NSHomeDirectory()) + "/.config/systemd/user")
        }
        let files = units.map { (path: folder.joined($0.key), text: $0.value) }
        try await blocking {
            let fileSystem = LocalFileSystem()
            try fileSystem.makeFolders(folder)
            for file in files { try fileSystem.replaceContents(of: file.path, with: Data(file.text.utf8)) }
        }
        for file in files { try console.print(file.path.string) }
        console.say("Start it with: systemctl --user daemon-reload && systemctl --user enable --now \(name)")
    }
}
