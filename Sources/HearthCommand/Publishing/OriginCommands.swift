import Foundation
import HearthBase
import HearthHTTP
import HearthPublishing

/// `hearth origin check`
struct OriginCheckCommand: Command {
    @Argument("ORIGIN", .word, "The address of an origin, a folder, or REMOTE:bucket/path.") var origin: String
    @Flag("all", "Read every byte, not only some chunks of large files.") var isComplete
    @Option(.report) var format: EventFormat

    static let declaration = CommandDeclaration(
        "origin", "check", summary: "Examine a live origin as devices see it",
        """
        Reads models.json and asks for every file that it names: whether it has the length and the digest that the
        catalog says, answers range requests, and is sent with headers that caches understand. Of a large file some
        chunks are read. The signatures of a signed origin are verified as a device with its first root verifies them.

        0: Devices can use the origin.
        1: They cannot, or not all of it.

        hearth origin check https://models.example.com/models.json  # What devices get.
        hearth origin check r2:models  # The bucket behind it, with the publisher's key.
        hearth origin check ./origin --all  # Every byte in a folder.
        """)

    func run(in context: CommandContext) async throws {
        let check: OriginCheck
        let address: URL
        if origin.contains("://") {
            guard let url = PublishPlace.parsed(origin) else {
                throw UsageError("\(origin) is not an https address", hint: Self.declaration.hint())
            }
            address = url
            check = OriginCheck(
                client: DefaultHTTPClient(version: HearthCommand.version), time: context.time, isComplete: isComplete)
        } else {
            let opened = try await PublishPlace(text: origin).open(context)
            address = opened.url
            check = OriginCheck(client: opened.client, time: context.time, isComplete: isComplete)
        }
        let report = try await check.run(address)
        try OriginFindings.show(report, format, on: context.console)
        try report.requireUsable()
    }
}

/// Prints what an examination found.
enum OriginFindings {
    static func show(_ report: OriginReport, _ format: EventFormat, on console: Console) throws {
        if format == .json { return try console.emit(report) }
        for finding in report.findings {
            try console.print("\(finding.weight.rawValue): \(finding.address) \(finding.problem)")
        }
        let signed = report.isSigned ? "signed" : "not signed"
        console.say(
            "\(report.manifest): \(report.releases) releases, \(report.files) files, "
                + "\(ByteCount(report.comparedBytes)) compared, \(signed).")
    }
}

/// `hearth origin prune`
struct OriginPrune: Command {
    @Argument("ORIGIN", .word, "A folder, or REMOTE:bucket/path.") var origin: String
    @Option("keep", "DAYS", .integer(0...3650), "How long a replaced catalog counts, for devices that still use it.")
    var days = 30
    @Flag("dry-run", "Only say what would be removed.") var isDryRun
    @Option(.report) var format: EventFormat

    static let declaration = CommandDeclaration(
        "origin", "prune", summary: "Remove files that no catalog of an origin names", isDestructive: true,
        """
        Keeps what the present catalog names, and what any catalog of the last days named. Files of the last day stay
        too, since a publication may be under way. Only files that `hearth publish` makes are looked at, and unfinished
        uploads.

        hearth origin prune r2:models --dry-run  # What could go.
        hearth origin prune r2:models --keep 90  # For devices that are rarely online.
        """)

    private struct Report: Encodable {
        let removed: [String]
        let freedBytes: UInt64
        let abandonedUploads: Int
        let kept: Int
        let dryRun: Bool
    }

    func run(in context: CommandContext) async throws {
        let opened = try await PublishPlace(text: origin).open(context)
        let publisher = Publisher(target: opened.target, time: context.time)
        let report = try await publisher.prune(keeping: days, isDryRun: isDryRun)
        if format == .json {
            return try context.console.emit(
                Report(
                    removed: report.removed.map(\.place.string), freedBytes: report.freedBytes,
                    abandonedUploads: report.abandonedUploads, kept: report.keptCount, dryRun: isDryRun))
        }
        for file in report.removed {
            try context.console.print("\(file.place)  \(ByteCount(file.size))")
        }
        let verb = isDryRun ? "would be removed" : "removed"
        context.console.say(
            "\(report.removed.count) files \(verb), \(ByteCount(report.freedBytes)); \(report.keptCount) stay"
                + (report.abandonedUploads == 0 ? "." : "; \(report.abandonedUploads) unfinished uploads given up."))
    }
}
