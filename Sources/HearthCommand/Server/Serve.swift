import Foundation
import Hearth
import HearthBase
import HearthServer

/// `hearth serve`
struct Serve: Command {
    private static let port = Option(
        "port", "N", .integer(0...65535), default: "serve.port, else \(ServerConfiguration.defaultPort)",
        "The port to listen on; 0 takes a free one.")
    private static let host = Option(
        "host", "ADDRESS", .word, default: "127.0.0.1",
        "The address to listen on; 0.0.0.0 for all that this machine has.")
    private static let detach = Flag("detach", "Start a process of its own, wait until it answers, and return.")
    private static let insecure = Flag(
        "insecure", "Let other machines in without TLS; keys and texts can be read on the way.")
    private static let certificate = Option(
        "tls-cert", "FILE", .word, "Serve with TLS: the certificate and its chain, as PEM.")
    private static let key = Option("tls-key", "FILE", .word, "The key of the certificate, as PEM.")
    private static let accessLog = Flag(
        "access-log", "Write a line on stderr for every request: who, what, status, bytes, time; never a text.")
    private static let installUnit = Flag(
        "install-unit", "Write units for systemd's user manager, which starts the process at the first request.")

    static let declaration = CommandDeclaration(
        "serve", summary: "Serve models and downloads to programs on one port",
        discussion: [
            "Answers the clients of OpenAI, Anthropic, Ollama and llama.cpp at the address it prints, and owns the "
                + "downloads of this home: while it runs, pull, update and transfers resume hand their work over, and a "
                + "download goes on after its terminal is closed. Unfinished downloads continue at its start.",
            "On this machine, programs need no key. The address with a code signs one browser in, once. Other machines "
                + "need a key (hearth keys create) and TLS, or --insecure in a network you trust.",
            "One process serves a home. Ctrl-C, SIGTERM and hearth stop end it in order: answers on their way end with a "
                + "reason, downloads keep their bytes. SIGHUP reads the settings and the keys again where there is no "
                + "terminal. The settings are serve.port, serve.keepAlive (seconds that an idle model stays in memory, 300 "
                + "without it, or always), serve.hosts and serve.origins.",
        ],
        options: [port, host, detach, insecure, certificate, key, accessLog, installUnit],
        exitStatuses: [
            (0, "It was told to end."), (1, "It cannot listen, or may not without a key."),
            (75, "Another process serves this home."),
        ],
        examples: [
            .init("hearth serve", "On this machine only."),
            .init("hearth serve --detach", "In the background; hearth stop ends it."),
            .init(
                "hearth serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem",
                "For other machines with a key."),
        ])

    let port: UInt16?
    let host: String
    let detaches: Bool
    let isInsecure: Bool
    let certificate: Path?
    let key: Path?
    let logsAccess: Bool
    let installsUnit: Bool

    init(_ values: ParsedArguments) throws {
        port = try values.value(Self.port).map { UInt16($0) }
        host = try values.value(Self.host) ?? "127.0.0.1"
        detaches = values.has(Self.detach)
        isInsecure = values.has(Self.insecure)
        certificate = try values.value(Self.certificate).map { Path($0).absolute }
        key = try values.value(Self.key).map { Path($0).absolute }
        logsAccess = values.has(Self.accessLog)
        installsUnit = values.has(Self.installUnit)
        guard (certificate == nil) == (key == nil) else {
            throw UsageError("--tls-cert and --tls-key belong together", hint: "Give both.")
        }
    }

    func run(in context: CommandContext) async throws {
        if installsUnit { return try await ServiceUnit.install(in: context) }
        if detaches { return try await DetachedServer(context: context).start(words) }
        try await ServingProcess(context: context, order: self).run()
    }

    /// The words of the same command without `--detach`.
    private var words: [String] {
        var words = ["serve", "--host", host]
        if let port { words += ["--port", "\(port)"] }
        if isInsecure { words.append("--insecure") }
        if let certificate, let key { words += ["--tls-cert", certificate.string, "--tls-key", key.string] }
        if logsAccess { words.append("--access-log") }
        return words
    }
}
