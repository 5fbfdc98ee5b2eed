import Foundation
import Hearth
import HearthBase
import HearthServer

/// `hearth preset list`
struct PresetList: Command {
    static let declaration = CommandDeclaration(
        "preset", "list", summary: "List the presets",
        """
        With --format json, an array of objects with name, model and system. `hearth preset` alone lists too.

        hearth preset list  # Show names and models.
        """)

    @Option(.listing) var format: ListingFormat

    func run(in context: CommandContext) async throws {
        let home = try context.home
        let presets = await blocking { Preset.all(home) }
        let entries = presets.map { preset -> JSONValue in
            ["name": .string(preset.name), "model": .string(preset.model), "system": .string(preset.system)]
        }
        try context.console.list(
            presets, format, json: JSONValue.array(entries).text, empty: "There are no presets.",
            [
                .left("NAME") { $0.name }, .left("MODEL") { $0.model },
                .left("SYSTEM") { TerminalText.singleLine(String($0.system.prefix(60))) },
            ])
    }
}

/// `hearth preset show NAME`
struct PresetShow: Command {
    static let declaration = CommandDeclaration(
        "preset", "show", summary: "Print a preset as a file",
        """
        Prints what `hearth preset add` reads.

        hearth preset show pirate > pirate.txt  # Keep it as a file.
        """)

    @Argument("NAME", .word, "The preset's name.") var name: String

    func run(in context: CommandContext) async throws {
        try context.console.write(PresetText.text(try await context.preset(name)))
    }
}

/// `hearth preset add NAME FILE`
struct PresetAdd: Command {
    static let declaration = CommandDeclaration(
        "preset", "add", summary: "Make a preset of a file",
        """
        A preset is a name under which a model answers with instructions and options of its own, in every dialect of
        `hearth serve`. The file has lines as Ollama's Modelfile: FROM names an installed model; SYSTEM the instructions
        of conversations without any; PARAMETER an option and its value (temperature, top_k, top_p, min_p, seed,
        num_predict, repeat_penalty, repeat_last_n, presence_penalty, frequency_penalty, stop); MESSAGE a role and a
        text with which each conversation begins. Texts of several lines stand between three quotation marks. Without
        FILE, the standard input is read. A preset of the same name is replaced; a running server takes it within a
        second.

        hearth preset add pirate pirate.txt  # Then ask for the model pirate.
        """)

    @Argument("NAME", .word, "The name under which the model answers.") var name: String
    @Argument("FILE", .path, arity: .optional, "The file.") var file: Path?

    func run(in context: CommandContext) async throws {
        let text: String
        if let file {
            let data = try await blocking { try LocalFileSystem().contents(ofFile: file, limit: 1 << 20) }
            text = String(decoding: data, as: UTF8.self)
        } else {
            text = try await context.input.all(limit: 1 << 20)
        }
        let preset: Preset
        do {
            preset = try PresetText.preset(name, text)
        } catch {
            throw PresetCommandError(
                .invalidPreset, error.message,
                context: ErrorContext(
                    file: file?.string, field: error.field, remedy: "Correct the file, and add it again."))
        }
        let hearth = try await context.hearth()
        do {
            try await HearthModels(hearth).keep(preset)
        } catch let error as APIFailure {
            throw PresetCommandError(
                error.reason == .conflict ? .presetName : .presetModel, error.message,
                context: ErrorContext(
                    model: preset.model, remedy: "Choose another name, or name an installed model after FROM."))
        }
        context.console.say("The preset \(preset.name) answers with \(preset.model).")
    }
}

/// `hearth preset remove NAME`
struct PresetRemove: Command {
    static let declaration = CommandDeclaration(
        "preset", "remove", summary: "Remove a preset", isDestructive: true,
        """
        The model stays.

        hearth preset remove pirate  # Forget it.
        """)

    @Argument("NAME", .word, "The preset's name.") var name: String

    func run(in context: CommandContext) async throws {
        let (preset, home) = (try await context.preset(name), try context.home)
        try await blocking { try preset.remove(home) }
        context.console.say("The preset \(preset.name) is removed.")
    }
}

/// The domain of ``PresetCommandError``.
enum PresetCommands: ErrorDomain {}

/// A preset that cannot be made or found.
typealias PresetCommandError = HearthError<PresetCommands>

extension ErrorCode<PresetCommands> {
    /// The file of a preset cannot be read.
    static var invalidPreset: Self { "preset-invalid" }
    /// The preset's model is not installed.
    static var presetModel: Self { "preset-model-missing" }
    /// A model has the name.
    static var presetName: Self { "preset-name-taken" }
    /// No preset has the name.
    static var presetMissing: Self { "preset-missing" }
}

extension CommandContext {
    /// The preset of a name.
    /// - Throws: ``PresetCommandError`` with `preset-missing`.
    fileprivate func preset(_ name: String) async throws -> Preset {
        let home = try home
        let presets = await blocking { Preset.all(home) }
        guard let preset = presets.first(where: { $0.name == name }) else {
            throw PresetCommandError(
                .presetMissing, "there is no preset \(name.quoted)",
                context: ErrorContext(model: name, remedy: "List the presets."))
        }
        return preset
    }
}
