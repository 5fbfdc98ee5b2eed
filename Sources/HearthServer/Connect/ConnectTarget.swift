import Foundation
import HearthBase

/// The server and the model that an app is to use.
package struct ConnectTarget: Sendable, Hashable {
    /// The address without a slash at its end, such as `http://127.0.0.1:4327`.
    package var address: String
    /// The name of the model.
    package var model: String
    /// Other names of the model.
    var aliases: [String] = []
    /// Whether it is a preset of another model.
    var isPreset = false
    /// Whether the model answers with text.
    var answers = true
    /// The tokens of its context.
    package var window: Int
    /// Whether the model reads images.
    package var hasVision = false
    /// Whether the model calls tools.
    package var hasTools = true
    /// Whether the server refuses programs of this machine without a key.
    package var needsKey = false
    /// The key; `nil` where none is needed.
    package var key: String?

    /// A target without a key.
    package init(address: String, model: String, window: Int) {
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        (self.model, self.window) = (model, window)
    }

    /// The address of OpenAI's dialect.
    var openAI: String { address + "/v1" }

    /// The key for an app that insists on one.
    var anyKey: String { key ?? "hearth" }

    /// The tokens that an app reserves for an answer: a quarter of the window, at most 8192.
    var answerTokens: Int { max(1, min(8192, window / 4)) }

    /// The values to enter where an app has no file.
    var values: [ConnectPlan.Value] {
        [
            ConnectPlan.Value(name: "Base URL", value: openAI), ConnectPlan.Value(name: "API key", value: anyKey),
            ConnectPlan.Value(name: "Model", value: model),
            ConnectPlan.Value(name: "Context window", value: "\(window)"),
        ]
    }
}

/// What connects an app: changes of its files, values for a person, and the environment of its program.
package struct ConnectPlan: Sendable {
    /// A file with the changes of it.
    package struct File: Sendable {
        package var path: Path
        package var form: ConfigurationForm
        package var edits: [ConfigurationEdit]
        /// The text that a missing file begins with.
        var beginning = ""
    }

    /// A value with its name in the app.
    package struct Value: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package var files: [File] = []
    /// The values to enter by hand, where there is no file or the file cannot be changed.
    package var values: [Value]
    /// Sentences for a person.
    package var notes: [String] = []
    /// The start of the program with an environment alone; `nil` if the app takes no address from there.
    package var start: Start?

    /// How a program is started.
    package struct Start: Sendable {
        package var variables: [String: String]
        /// Arguments before those of the user.
        package var arguments: [String] = []
        /// Variables that would lead the program elsewhere.
        package var removed: [String] = []
        /// A file of Hearth's own that the program reads: its place below the home, and its text.
        package var file: (name: String, text: String)?
    }
}

/// The folders and programs of a user.
package struct ConnectPlaces: Sendable {
    let environment: [String: String]
    /// Hearth's own folder.
    let home: Path

    package init(environment: [String: String], home: Path) {
        (self.environment, self.home) = (environment, home)
    }

    /// The user's home folder.
    var user: Path { Path(variable("HOME") ?? NSHomeDirectory()) }

    /// The folder of configurations.
    var configuration: Path {
        guard let folder = variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") else { return user.appending(".config") }
        return Path(folder)
    }

    /// The value of a variable that is set and not empty.
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The folder in a variable, else another one.
    func folder(_ name: String, or usual: Path) -> Path { variable(name).map { Path($0).absolute } ?? usual }

    /// The first of the programs that the search path has.
    package func program(_ names: [String]) -> Path? {
        let folders = (variable("PATH") ?? "/usr/bin:/bin").split(separator: ":").map { Path(String($0)) }
        for name in names {
            for folder in folders + [user.appending(".local").appending("bin")] {
                let path = folder.joined(name).absolute
                if access(path.string, X_OK) == 0, (try? LocalFileSystem().status(at: path))?.kind == .file {
                    return path
                }
            }
        }
        return nil
    }

    /// Whether something has a path.
    func exists(_ path: Path) -> Bool { (try? LocalFileSystem().status(at: path)) != nil }

    /// Whether a folder has a name that begins so.
    func exists(in folder: Path, beginning: String) -> Bool {
        // A folder that cannot be read shows no app.
        let names = (try? LocalFileSystem().contents(of: folder)) ?? []
        return names.contains { $0.hasPrefix(beginning) }
    }
}
