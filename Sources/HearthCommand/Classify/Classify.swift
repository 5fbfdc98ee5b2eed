import Foundation
import Hearth
import HearthBase
import HearthClassification
import HearthDelivery
import HearthInference

/// `hearth classify`
struct Classify: Command {
    @Argument(
        "FILE", .word, arity: .oneOrMore,
        "Pictures: JPEG, PNG, WebP, BMP, TIFF with any number of pages; with --decode also PDF.") var files: [String]
    @Option(
        "model", "REF", .word, "An installed classifier, or the path of an .onnx file with classifier.json beside it.")
    var model: String?
    @Option("top", "N", .integer(1...1000), "Print the N likeliest classes of each picture.") var top = 5
    @Flag("decode", "Take each file for a page: cut it into characters, and print them in reading order.") var decodes
    @Option(
        "direction", "D", .choice, default: "auto",
        "How a page is read: columns from the right, rows from the top, or auto.")
    var direction = ReadingDirection.automatic
    @Flag("cloud", "Decode All: send characters that this device is not sure of to the cloud model of the settings.")
    var asksCloud
    @Option("cloud-limit", "N", .integer(1...100_000), "Send at most N characters of a file.") var cloudLimit = 50
    @Option(.events) var format: EventFormat

    static let declaration = CommandDeclaration(
        "classify", summary: "Tell what pictures show, or read a page of characters",
        """
        Prints the likeliest classes of each picture with their confidences, which add up to one over all classes. A
        picture of another shape than the model's input is cut at its longer sides.

        With --decode, a scan or photo is straightened and cut into characters. A line of output is a column or row of
        the page; □ stands for a character that could not be read. On stderr: how many this device is sure of (from 0.90
        on), how many it is fairly sure of (from 0.60 on), and how many are unverified. A terminal shows the first in
        green, the second in yellow, those of the cloud in magenta, and the others in red.

        With --cloud, the others go to the cloud model, one request each, under the rules of 'hearth route': stderr says
        first how many characters, requests and credits that takes. Nothing is sent without it. Where the cloud does not
        answer with one character, that of this device stays, unverified.

        Without --model it uses the only installed classifier.

        With --format json, one object a line: event is classification (with file and candidates), page, character (with
        file, page, line, box, text, confidence, verdict, source, reason and candidates), done or error.

        hearth classify character.png  # The five likeliest characters.
        hearth classify --decode page.tiff > page.txt  # The text of all pages of a scan.
        hearth classify --decode --cloud --cloud-limit 10 page.png  # Ask the cloud where it is needed.
        hearth classify --model ./hanzi.onnx character.png  # Try a model without installing it.
        """)

    func validate() throws {
        if asksCloud, !decodes { throw UsageError("--cloud needs --decode") }
    }

    func run(in context: CommandContext) async throws {
        var output = ClassifyOutput(console: context.console, format: format)
        let cloud = try await context.configuration.cloud
        output.offersCloud = !asksCloud && cloud.kind != nil
        guard decodes else {
            // The first pictures are read while the model is loaded.
            async let first = Self.read(files[...])
            let proxy = try await classifier(in: context)
            return try await classify(await first, with: proxy, output)
        }
        let proxy = try await classifier(in: context)
        let service = asksCloud ? try await CloudReading.open(in: context) : nil
        var limits = EscalationLimits()
        limits.requests = cloudLimit
        let decoder = RoutingDecoder(proxy: proxy, cloud: service?.reader, limits: limits, time: context.time)
        var pages = PageDecoder(proxy: proxy, decoder: decoder)
        pages.direction = direction
        try await withEnding({ await service?.close() }) { [pages] in
            for file in files { try await decode(file, pages, service, output) }
        }
    }

    /// Classifies all files in order, several in one computation; meanwhile the next are read.
    private func classify(_ first: ReadPictures, with proxy: ClassifierProxy, _ output: ClassifyOutput) async throws {
        var (rest, current) = (files[...], first)
        while !rest.isEmpty {
            let following = current.failure == nil ? rest.dropFirst(current.pictures.count) : []
            async let next = Self.read(following)
            let answers = try await proxy.classify(current.pictures, top: top)
            for (file, answer) in zip(rest, answers) { try output.show(answer, of: file) }
            if let failure = current.failure { throw failure }
            (rest, current) = (following, await next)
        }
    }

    private func decode(
        _ file: String, _ pages: PageDecoder, _ service: CloudReading?, _ output: ClassifyOutput
    ) async throws {
        try await PictureFile.naming(file) {
            let bytes = try await blocking { try PictureFile.bytes(of: file, limit: Self.limit) }
            let events = pages.decode(bytes, top: top) { offer in
                output.announce(offer, credits: service?.credits)
                return true
            }
            var report = PageReport(file: file)
            for try await event in events { try output.show(event, &report) }
            try Task.checkCancellation()
            try output.finish(report)
        }
    }

    // MARK: The classifier

    private func classifier(in context: CommandContext) async throws -> ClassifierProxy {
        let hearth = try await context.hearth()
        if let model { return try await hearth.classifier(model, policy: .localOnly) }
        _ = try await context.recovered(hearth)
        return try await hearth.onlyClassifier()
    }

    // MARK: Files

    /// The pictures of some files, and why the one after them cannot be read.
    private struct ReadPictures: Sendable {
        var pictures: [Picture] = []
        var failure: (any Error)?
    }

    private static let maximumPictures = 32
    /// After so many pixels no further picture is read for one computation.
    private static let maximumPixels = 16 << 20

    /// Reads the first of some files: as many as are computed together.
    private static func read(_ files: ArraySlice<String>) async -> ReadPictures {
        do {
            return try await StopFlag.blocking { flag in
                var (result, pixels) = (ReadPictures(), 0)
                do {
                    for file in files.prefix(maximumPictures) where pixels < maximumPixels {
                        try flag.check()
                        let picture = try PictureFile.naming(file) {
                            try Picture(file: PictureFile.bytes(of: file, limit: limit))
                        }
                        pixels += picture.width * picture.height
                        result.pictures.append(picture)
                    }
                } catch {
                    result.failure = error
                }
                return result
            }
        } catch {
            return ReadPictures(failure: error)
        }
    }

    private static let limit = PictureLimits().maximumBytes
}
