import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery

/// `hearth import`
struct ImportModel: Command {
    @Argument("FOLDER", .path, "A folder with config.json, *.safetensors and a tokenizer.") var folder: Path
    @Option(
        "family", "F", ValueKind("a name of small letters, digits, '.', '-' and '_'") { Family($0) },
        default: "from the folder's name", "The family of the model.") var family: Family?
    @Flag("no-activate", "Install it, but keep the active release active.") var noActivate
    @Flag("no-probe", "Make it active without a probe.") var noProbe
    @Flag(.ignoreMemory) var ignoreMemory
    @Option(.events) var format: EventFormat

    static let declaration = CommandDeclaration(
        "import", summary: "Install a folder of MLX or safetensors files",
        """
        Copies a model of MLX or of PyTorch's libraries from a folder, and makes one GGUF file of it, which the engine
        here runs; 'hearth show' says what that changes, if anything. From then on the model is like any other: in
        'list', 'chat', 'serve' and 'remove'.

        The folder is checked before anything is copied: what no engine here runs is refused with the code
        incompatible. If the import is interrupted, the same command goes on.

        hearth import ./Llama-3.2-1B-Instruct-4bit
        hearth import ~/models/mine --family my-model
        """)

    func run(in context: CommandContext) async throws {
        if format == .json { context.console.speakEvents() }
        let kind = try await blocking { try LocalFileSystem().status(at: folder)?.kind }
        guard kind != .file else {
            throw UsageError(
                "\(folder) is a file, and this command reads folders of models",
                hint: "'hearth pull' takes .gguf files, 'calendar import', 'contacts import', 'notes import' and "
                    + "'chats import' take records.")
        }
        var options = PullOptions()
        (options.activate, options.probes) = (!noActivate, !noProbe)
        (options.ignoreMemory, options.family, options.retryHeldBack) = (ignoreMemory, family, true)
        let manager = try await context.manager(ignoresMemory: ignoreMemory)
        try await context.fetch(.file(folder), with: manager, options: options, format: format)
    }
}
