import HearthBase
import HearthServer

/// `hearth host`
struct Host: Command {
    @Argument("FOLDER", .path, "The folder that `hearth publish` filled.") var folder: Path
    @Option("port", "N", .port, "The port to listen on; 0 takes a free one.") var port: UInt16 = 0
    @Flag("access-log", "Write a line on stderr for every reply: method, target, status, bytes, range.") var logsAccess

    static let declaration = CommandDeclaration(
        "host", summary: "Serve an origin's folder to devices",
        """
        Listens on this machine only (127.0.0.1), prints the address of the folder's models.json and serves until it is
        told to end with Ctrl-C or SIGTERM; replies on their way may finish. To serve others, put the folder behind any
        web server.

        0: It was told to end.
        1: It cannot listen, or there is no such folder.

        hearth host ./origin  # On a free port.
        hearth host ./origin --port 8080 --access-log  # On that port, showing who fetches what.
        """)

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
        await untilCancelled()
        await server.stop()
    }
}
