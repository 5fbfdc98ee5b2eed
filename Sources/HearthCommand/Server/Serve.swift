import Foundation
import Hearth
import HearthBase
import HearthServer

/// `hearth serve`
struct Serve: Command {
    @Option(
        "port", "N", .port, default: "serve.port, else \(ServerConfiguration.defaultPort)",
        "The port to listen on; 0 takes a free one.") var port: UInt16?
    @Option("host", "ADDRESS", .word, "The address to listen on; 0.0.0.0 for all that this machine has.") var host =
        "127.0.0.1"
    @Flag(
        "lan",
        "Let phones and other machines of this network open the page with a code; programs on them need a key.")
    var isOnNetwork
    @Flag("detach", "Start a process of its own, wait until it answers, and return.") var detaches
    @Flag("insecure", "Let other machines in without TLS; keys and texts can be read on the way.") var isInsecure
    let tls = TLSFiles()
    @Flag("access-log", "Write a line on stderr for every request: who, what, status, bytes, time; never a text.")
    var logsAccess
    @Flag("install-unit", "Write units for systemd's user manager, which starts the process at the first request.")
    var installsUnit

    static let declaration = CommandDeclaration(
        "serve", summary: "Serve models and downloads to programs on one port",
        """
        Answers the clients of OpenAI, Anthropic, Ollama and llama.cpp at the address it prints, and owns the downloads
        of this home: while it runs, pull, update and transfers resume hand their work over, and a download goes on
        after its terminal is closed. Unfinished downloads continue at its start.

        On this machine, programs need no key. The address with a code signs one browser in, once. Other machines need a
        key (hearth keys create) and TLS, or --insecure in a network you trust.

        A start loads the default model, then the saved visionModel, as far as memory permits, and updates the models in
        use as serve.updates says: auto, offer or off.

        --lan opens the page to the network: it prints one line, the address of the default route with a code that signs
        one browser in, once, and at a terminal the same as a QR code for a phone's camera. No key is needed for that;
        programs on other machines need one. Without a certificate, others in the network can read along: use it in a
        network you trust.

        One process serves a home. Ctrl-C, SIGTERM and hearth stop end it in order: answers on their way end with a
        reason, downloads keep their bytes. SIGHUP reads the settings and the keys again where there is no terminal. The
        settings are serve.port, serve.keepAlive (seconds that an idle model stays in memory, 300 without it, or
        always), serve.hosts and serve.origins.

        0: It was told to end.
        1: It cannot listen, or may not without a key.
        75: Another process serves this home.

        hearth serve  # On this machine only.
        hearth serve --detach  # In the background; hearth stop ends it.
        hearth serve --lan  # With a QR code for a phone.
        hearth serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem  # For other machines with a key.
        """)

    func validate() throws {
        if isOnNetwork, host != "127.0.0.1" {
            throw UsageError("--lan listens on all addresses, and --host names one", hint: Self.declaration.hint())
        }
    }

    func run(in context: CommandContext) async throws {
        if installsUnit { return try await ServiceUnit.install(in: context) }
        if detaches { return try await DetachedServer(context: context, isOnNetwork: isOnNetwork).start(words) }
        try await serve(in: context)
    }

    private func serve(in context: CommandContext) async throws {
        let (console, hearth) = (context.console, try await context.hearth())
        _ = try await context.recovered(hearth)
        var options = HearthServer.Options()
        options.port = port
        options.host = host
        options.sockets = ServiceManager(environment: context.environment).descriptors
        if let tls = tls.files { options.tls = HearthServer.TLS(certificate: tls.certificate, key: tls.key) }
        options.isInsecure = isInsecure
        options.isOnNetwork = isOnNetwork
        options.invite = { console.show($0) }
        options.version = HearthCommand.version
        options.ownsModels = true
        options.signInCommand = "hearth serve --detach"
        if logsAccess { options.log = { console.complain($0) } }
        let isInviting = isOnNetwork && options.sockets.isEmpty
        options.report = { event in
            switch event {
            // The address for the network follows, and leads here too.
            case .ready where isInviting: break
            case .ready(let address, let signIn):
                // The server goes on without a reader of its address.
                try? console.print(address.absoluteString)
                // A code is for a person, not for a log: `hearth serve --detach` prints another.
                if console.errors.isTerminal { console.say("Open once in a browser: \(signIn.absoluteString)") }
            case .settingsRead: console.say("The settings were read again.")
            case .settingsRefused(let error): console.complain("Not used: \(error)")
            case .notContinued(let name, let error): console.complain("\(name) was not continued: \(error)")
            case .ending: console.say("Ending.")
            }
        }
        let server = HearthServer(hearth, options)
        guard !Self.hasControllingTerminal else { return try await server.run() }
        try await context.interruptions.handling(.hangUp, with: { Task { await server.reload() } }) {
            try await server.run()
        }
    }

    private static var hasControllingTerminal: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// The words of the same command without `--detach`.
    private var words: [String] {
        var words = ["serve", "--host", host]
        if let port { words += ["--port", "\(port)"] }
        if isInsecure { words.append("--insecure") }
        if isOnNetwork { words.append("--lan") }
        if let tls = tls.files { words += ["--tls-cert", tls.certificate.string, "--tls-key", tls.key.string] }
        if logsAccess { words.append("--access-log") }
        return words
    }
}
