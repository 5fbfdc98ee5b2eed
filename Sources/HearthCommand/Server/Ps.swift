import Foundation
import HearthBase
import HearthDelivery
import HearthServer
import HearthTransfer

/// `hearth ps`
struct Ps: Command {
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "ps", summary: "Show the running server's models, requests and downloads",
        """
        The process that serves this home with its connections, requests and memory; the models it has loaded; and all
        transfers that run or wait, of any process.

        With --format json, an object with server (null if no process serves this home) and transfers.

        hearth ps  # Show it.
        hearth ps --format json  # The same for a program.
        """)

    func run(in context: CommandContext) async throws {
        let place = ResidentPlace(home: try context.home, environment: context.environment)
        let server = try await ResidentClient(place).object("GET", "/hearth/v1/status")
        let transfers = try await context.transfers().transfers.list().filter(\.state.isHeld)
        guard format == .table else {
            let entries = try transfers.map {
                try JSONValue(parsing: Data(try JSONText.line(TransferEntry($0)).utf8))
            }
            let all: JSONValue = .object([
                "server": server.map { .object($0) } ?? .null, "transfers": .array(entries),
            ])
            return try context.console.print(all.text)
        }
        try show(server, on: context.console)
        guard !transfers.isEmpty else { return }
        var table = Table(("FILE", .left), ("RECEIVED", .right), ("STATE", .left))
        for summary in transfers { table.add(summary.label, summary.received, summary.state.sentence) }
        for line in table.lines { try context.console.print(line) }
    }

    private func show(_ server: [String: JSONValue]?, on console: Console) throws {
        guard let server else { return console.say("No process serves this home.") }
        var facts = ["process \(server["process"]?.wholeNumber ?? 0)"]
        if let address = server["address"]?.plainText { facts.append(address) }
        facts.append("\(server["connections"]?.wholeNumber ?? 0) connections")
        facts.append("\(server["requests"]?.wholeNumber ?? 0) requests")
        if let bytes = server["memoryBytes"]?.wholeNumber { facts.append("\(ByteCount(UInt64(max(0, bytes))))") }
        try console.print(facts.joined(separator: ", "))
        let models = server["models"]?.items.compactMap(\.members) ?? []
        if !models.isEmpty {
            var table = Table(("MODEL", .left), ("SIZE", .right), ("UNTIL", .left))
            for model in models {
                table.add(
                    model["name"]?.plainText ?? "-",
                    "\(ByteCount(UInt64(max(0, model["bytes"]?.wholeNumber ?? 0))))",
                    model["expires"]?.plainText ?? "memory is needed")
            }
            for line in table.lines { try console.print(line) }
        }
        for job in server["jobs"]?.items.compactMap(\.members) ?? [] {
            let words = [job["kind"], job["model"]].compactMap { $0?.plainText }.joined(separator: " ")
            try console.print("job: \(words), since \(job["started"]?.plainText ?? "-")")
        }
    }
}
