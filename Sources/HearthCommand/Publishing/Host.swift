import HearthBase
import HearthServer

/// `hearth host`
struct Host: Command {
    private static let folder = Argument("FOLDER", .word, "The folder that `hearth publish` filled.")
    private static let port = Option(
        "port", "N", .integer(0...65535), default: "0", "The port to listen on; 0 takes a free one.")
    private static let accessLog = Flag(
        "access-log", "Write a line on stderr for every reply: method, target, status, bytes, range.")

    static let declaration = CommandDeclaration(
        "host", summary: "Serve an origin's folder to devices",
        discussion: [
            "Listens on this machine only (127.0.0.1), prints the address of the folder's models.json and serves until "
                + "it is told to end with Ctrl-C or SIGTERM; replies on their way may finish. To serve others, put the "
                + "folder behind any web server."
        ],
        arguments: [folder], options: [port, accessLog],
        exitStatuses: [(0, "It was told to end."), (1, "It cannot listen, or there is no such folder.")],
        examples: [
            .init("hearth host ./origin", "On a free port."),
            .init("hearth host ./origin --port 8080 --access-log", "On that port, showing who fetches what."),
        ])

    let folder: Path
    let port: UInt16
    let logsAccess: Bool

    init(_ values: ParsedArguments) throws {
        folder = Path(try values.value(Self.folder))
        port = UInt16(try values.value(Self.port) ?? 0)
        logsAccess = values.has(Self.accessLog)
    }

    func run(in context: CommandContext) async throws {
        let console = context.console
        let log: OriginServer.AccessLog = { console.complain($0) }
        let server = try await blocking {
            try OriginServer(folder: folder, port: port, accessLog: logsAccess ? log : nil)
        }
        do {
            try console.print("\(server.url)/models.json")
            console.say("Serving \(folder). Ctrl-C ends it.")
        } catch {
            await server.stop()
            throw error
        }
        // Wait until the task is cancelled.
        let (never, source) = AsyncStream<Never>.makeStream()
        for await _ in never {}
        source.finish()
        await server.stop()
    }
}
