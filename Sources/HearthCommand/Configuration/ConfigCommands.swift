import Hearth
import HearthBase

private let settingKey = Argument(
    "KEY", ValueKind<String>("a text that is not empty", completion: .settings) { $0.isEmpty ? nil : $0 },
    "The name of a setting; `hearth config --help` lists them.")

/// `hearth config get KEY`
struct ConfigGet: Command {
    static let declaration = CommandDeclaration(
        "config", "get", summary: "Print one setting",
        """
        Prints the value alone, so that a script can use it. A setting without a value is an error.

        0: The setting has a value.
        1: It has none, or there is no such setting.

        hearth config get defaultModel  # The model that chat uses when none is named.
        """)

    @Argument(settingKey) var key: String

    func run(in context: CommandContext) async throws {
        let settings = try await context.configuration
        if let problem = settings.problem(of: key), let text = settings.invalidText(of: key) {
            try context.console.print(text)
            return context.console.complain(problem)
        }
        guard let value = try settings.value(of: key) else {
            throw ConfigurationError(
                .notSet, "\(key) is not set",
                context: ErrorContext(field: key, remedy: "Set it with `hearth config set \(key) VALUE`."))
        }
        try context.console.print(value)
    }
}

/// `hearth config set KEY VALUE`
struct ConfigSet: Command {
    static let declaration = CommandDeclaration(
        "config", "set", summary: "Change one setting",
        section: (
            "settings",
            Setting.table.map { row in
                // A list without spaces does not fit a line.
                let words = row.unset.replacing(", ", with: ",").replacing(",", with: ", ")
                let unset = words.isEmpty ? "" : "; default: \(words)"
                return (row.key, "\(row.summary) (\(row.values)\(unset))")
            }
        ),
        """
        Settings are kept in config.json in the home folder, readable by its owner only. A running server follows within
        two seconds.

        hearth config set origins.main https://models.example.org/models.json  # Get models from this address.
        hearth config set origins.local ./origin/models.json  # Get models from a folder of this machine.
        hearth config set defaultModel smollm2-135m-instruct  # Chat with this model.
        hearth config set cloud.kind gemini  # Let Gemini answer, with the key in GEMINI_API_KEY.
        """)

    /// All keys with their meanings.
    static let keys: HelpSection = ("settings", Setting.table.map { ($0.key, $0.summary) })

    @Argument(settingKey) var key: String
    @Argument(
        "VALUE", ValueKind("text", completion: .settingValues) { $0 },
        "The new value; it is checked before anything is written.") var value: String

    func run(in context: CommandContext) async throws {
        try await context.settings.change { [key, value] settings in
            do {
                try settings.set(key, to: value)
            } catch let error as ConfigurationError where error.code == .invalid {
                // The value stands on the command line, not in the file.
                throw ConfigurationError(
                    error.code, error.message, context: error.context, disposition: .usage,
                    underlying: error.underlying)
            }
        }
    }
}

/// `hearth config unset KEY`
struct ConfigUnset: Command {
    static let declaration = CommandDeclaration(
        "config", "unset", summary: "Take one setting back to its default", isDestructive: true,
        """
        It is no error when the setting has no value.

        hearth config unset origins.local  # Forget an origin; what was installed from it stays.
        """)

    @Argument(settingKey) var key: String

    func run(in context: CommandContext) async throws {
        try await context.settings.change { [key] in try $0.set(key, to: nil) }
    }
}

/// `hearth config list`
struct ConfigList: Command {
    static let declaration = CommandDeclaration(
        "config", "list", summary: "Print every setting that has a value",
        """
        With --format json, an array of objects with key and value; with --all also default, type, unit, range, choices
        and summary, null where there is none. `hearth config` alone lists too.

        hearth config list  # See what is set.
        hearth config list --all  # See every setting with its default and meaning.
        """)

    @Flag("all", "List all settings, with their defaults.") var isComplete: Bool
    @Option(.listing) var format: ListingFormat

    private struct Entry: Encodable {
        let key: String
        let value: String
    }

    func run(in context: CommandContext) async throws {
        let settings = try await context.configuration
        switch (format, isComplete) {
        case (.json, false):
            try context.console.print(JSON.pretty(settings.entries.map { Entry(key: $0.key, value: $0.value) }))
        case (.json, true):
            try context.console.print(JSONValue.array(settings.rows(patterns: true).map(Self.entry)).text)
        case (.table, false):
            if settings.entries.isEmpty { context.console.say("Nothing is set.") }
            for entry in settings.entries { try context.console.print("\(entry.key) = \(entry.value)") }
        case (.table, true):
            try context.console.print(
                settings.rows(patterns: true),
                [
                    .left("SETTING") { $0.key }, .left("VALUE") { $0.value ?? "-" },
                    .left("DEFAULT") { $0.default ?? "-" }, .left("MEANING") { $0.summary },
                ])
        }
        guard let last = settings.problems.last else { return }
        for problem in settings.problems.dropLast() { context.console.complain(problem) }
        throw last
    }

    private static func entry(_ row: SettingRow) -> JSONValue {
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        return .object([
            "key": .string(row.key), "value": text(row.value), "default": text(row.default),
            "type": .string(row.type.rawValue), "unit": text(row.unit), "summary": .string(row.summary),
            "range": row.range.map { range in
                .object(["minimum": .integer(Int(range.minimum)), "maximum": .integer(Int(range.maximum))])
            } ?? .null,
            "choices": row.choices.map { .array($0.map { .string($0) }) } ?? .null,
        ])
    }
}

extension CommandContext {
    /// The file of the settings.
    var settings: SettingsFile { get throws { SettingsFile(home: try home, time: time) } }
}

extension Console {
    /// Writes a failure that does not end the command.
    fileprivate func complain(_ problem: ConfigurationError) {
        for line in FailureRenderer(problem).lines { complain(line) }
    }
}
