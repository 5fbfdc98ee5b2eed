import Foundation
import Hearth
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
        The process that serves this home with its connections, requests and memory; the models it has loaded; the
        upstreams with their requests; and all transfers that run or wait, of any process.

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
                try JSONValue(parsing: JSON.text(TransferRow($0)))
            }
            let all: JSONValue = .object([
                "server": server.map { .object($0) } ?? .null, "transfers": .array(entries),
            ])
            return try context.console.print(all.text)
        }
        try show(server, on: context.console)
        guard !transfers.isEmpty else { return }
        try context.console.print(
            transfers,
            [.left("FILE") { $0.label }, .right("RECEIVED") { $0.received }, .left("STATE") { $0.state.sentence }])
    }

    private func show(_ server: JSONMembers?, on console: Console) throws {
        guard let server else { return console.say("No process serves this home.") }
        var facts = ["process \(Self.count(server["process"]))"]
        if let address = server["address"]?.string { facts.append(address) }
        facts.append("\(Self.count(server["connections"])) connections")
        facts.append("\(Self.count(server["requests"])) requests")
        if let bytes = server["memoryBytes"] { facts.append("\(ByteCount(Self.count(bytes)))") }
        try console.print(facts.joined(separator: ", "))
        let models = server["models"]?.items?.compactMap(\.members) ?? []
        if !models.isEmpty {
            try console.print(
                models,
                [
                    .left("MODEL") { $0["name"]?.string ?? "-" },
                    .right("SIZE") { "\(ByteCount(Self.count($0["bytes"])))" },
                    .left("UNTIL") { $0["expires"]?.string ?? "memory is needed" },
                ])
        }
        let upstreams = server["upstreams"]?.items?.compactMap(\.members) ?? []
        if !upstreams.isEmpty {
            try console.print(
                upstreams,
                [
                    .left("UPSTREAM") { $0["name"]?.string ?? "-" },
                    .left("ADDRESS") { $0["address"]?.string ?? "-" },
                    .right("MODELS") { "\($0["models"]?.items?.count ?? 0)" },
                    .right("RUNNING") { row in
                        let slots = row["slots"].map { " of \(Self.count($0))" } ?? ""
                        return "\(Self.count(row["running"]))\(slots)"
                    },
                    .right("WAITING") { "\(Self.count($0["waiting"]))" },
                    .left("STATE") { row in
                        row["problem"]?.string ?? (row["isFailing"]?.flag == true ? "fails" : "answers")
                    },
                ])
        }
        for job in server["jobs"]?.items?.compactMap(\.members) ?? [] {
            let words = [job["kind"], job["model"]].compactMap { $0?.string }.joined(separator: " ")
            try console.print("job: \(words), since \(job["started"]?.string ?? "-")")
        }
    }

    /// A number of the reply; 0 for none.
    private static func count(_ value: JSONValue?) -> UInt64 {
        guard case .number(let digits)? = value else { return 0 }
        return UInt64(digits) ?? 0
    }
}
