import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery

/// `hearth search`
struct Search: Command {
    @Argument("WORDS", .word, arity: .oneOrMore, "Parts of a model's name, such as qwen3 4b.") var words: [String]
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "search", summary: "Search the Hugging Face Hub for models",
        """
        Lists the 20 most downloaded repositories of the Hub with GGUF files whose names hold the words, each with the
        quantization that 'hearth pull' would take on this device and its size. Sizes cost one request a row. Where the
        Hub tells none, they are estimated from the number of parameters, and say 'about'.

        HF_ENDPOINT names another hub; HF_TOKEN gives access to private and gated repositories. A gated one lists its
        files, but its owner decides who gets them.

        With --format json, an array of objects with id, downloads (of 30 days), likes, license, gated, fits, reference
        (for 'hearth pull'), chosen and quantizations (each with name, sizeBytes, about and fits).

        0: The Hub answered, also if it found nothing.
        1: The Hub's answer cannot be used.
        75: Not now: the Hub cannot be reached, or allows no more requests for some seconds.

        hearth search qwen3 4b  # Find a model; 'hearth pull ORG/NAME:QUANTIZATION' takes it.
        hearth search qwen3 --format json  # The same for a program.
        """)

    func run(in context: CommandContext) async throws {
        let console = context.console
        let manager = try await context.hearth().manager
        console.showBar("asking the Hub")
        defer { console.showBar(nil) }
        let result = try await manager.search(words.joined(separator: " "))
        console.showBar(nil)
        if let problem = result.problem as? any HearthFailure {
            console.say("Some sizes are estimates: \(problem.message).")
        }
        if format.isJSON { return try console.print(JSON.pretty(result.rows)) }
        guard !result.rows.isEmpty else { return console.say("The Hub has no such model in GGUF files.") }
        try console.printFitting(
            result.rows,
            [
                .left("REPOSITORY") { $0.id }, .right("DOWNLOADS") { "\($0.downloads)" },
                .right("LIKES") { "\($0.likes)" },
                .left("LICENSE") { ($0.license ?? "-") + ($0.gated ? ", gated" : "") },
                .left("QUANTIZATION") { $0.shown?.name ?? "-" }, .right("SIZE") { $0.sizeText },
                .left("FITS") { $0.fits.map { $0 ? "yes" : "no" } ?? "-" },
            ])
    }
}

extension HubSearchRow {
    /// The quantization to display: the chosen one, else the smallest.
    fileprivate var shown: Quantization? { quantizations.first { $0.name == chosen } ?? quantizations.first }

    fileprivate var sizeText: String {
        guard let shown, let size = shown.sizeBytes else { return "-" }
        return (shown.about ? "about " : "") + ByteCount(size).description
    }
}
