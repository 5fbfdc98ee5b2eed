import Foundation
import Hearth
import HearthBase
import HearthServer

/// `hearth connect`
struct Connect: Command {
    @Argument(
        "APP",
        ValueKind(
            "run, or one of " + ConnectedApp.allCases.map(\.rawValue).joined(separator: ", "),
            completion: .words(ConnectedApp.allCases.map(\.rawValue) + ["run"])
        ) { $0 == "run" || ConnectedApp(named: $0) != nil ? $0 : nil }, arity: .optional,
        "The app; all that are found on this machine without it. Or run, to start one.")
    var word: String?
    @Argument("WORD", .text, arity: .any, "After run: the app, then -- and its own arguments.") var words: [String]
    @Option(
        "model", "NAME", .word, default: "defaultModel, else the only one",
        "The model that the app is to use; `hearth list` shows the installed ones.") var model: String?
    @Flag("undo", "Take the connection back: the app's files become what they were.") var isUndone
    @Flag("dry-run", "Show what would change; write nothing.") var isDry
    @Option(.report) var format: EventFormat

    static let declaration = CommandDeclaration(
        "connect", summary: "Let coding agents and other apps use the models of this machine",
        """
        Finds Claude Code, Codex, opencode, aider, Continue, Zed, Cline, llm and Open WebUI, and writes the address, the
        model and its context window into each app's own configuration. Comments, order and everything else in the file
        stay as they are. Where an app has no file for that (cline, open-webui), the values to enter are printed.

        Programs of this machine need no key. Where the settings require one (serve.requireKeys), a key is made for the
        app.

        The files as they were are kept in the home, below connect. --undo puts them back, to the byte; in a file that
        was changed since, it takes back only what connect had set. Connecting again replaces what was set before.

        connect run starts an app with its environment alone and writes none of the app's files: claude, codex,
        opencode, aider, llm and open-webui take their settings so.

        With --format json, an object with apps: app, files (path, change), values and notes of each.

        0: All that was asked for is connected, or taken back.
        1: A file is broken, may not be changed, or cannot be changed safely; it was left as it is.

        hearth connect  # Connect all apps that are found.
        hearth connect codex --model smollm2-135m-instruct  # One app, with this model.
        hearth connect claude --dry-run  # See what would be written.
        hearth connect claude --undo  # Take it back.
        hearth connect run codex -- exec "Say ok"  # Start it without changing its files.
        """)

    func validate() throws {
        if word == "run" {
            guard let name = words.first else {
                throw UsageError("hearth connect run needs an app", hint: Self.declaration.hint())
            }
            guard ConnectedApp(named: name) != nil else {
                let names = ConnectedApp.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError(
                    "the app must be one of \(names), not \(name.quotedForTerminal)", hint: Self.declaration.hint())
            }
            if isUndone || isDry {
                throw UsageError("connect run takes neither --undo nor --dry-run", hint: Self.declaration.hint())
            }
        } else if let extra = words.first {
            throw UsageError("unexpected argument \(extra.quotedForTerminal)", hint: Self.declaration.hint())
        }
    }

    func run(in context: CommandContext) async throws {
        let connector = Connector(
            ConnectPlaces(environment: context.environment, home: try context.home.absolute), time: context.time)
        if word == "run", let app = words.first.flatMap(ConnectedApp.init(named:)) {
            let server = try await context.connectServer()
            if !server.isServing { context.console.sayServerIsMissing() }
            try await connector.start(app, try server.target(model), Array(words.dropFirst())).replaceProcess()
        }
        let named = word.flatMap(ConnectedApp.init(named:)).map { [$0] }
        var report = ConnectReport(console: context.console, isDry: isDry, isJSON: format.isJSON)
        if isUndone {
            for app in try await blocking({ try named ?? connector.connected() }) {
                await report.adding(app) { try await connector.undo(app, isDry: isDry).map { (nil, $0) } }
            }
        } else {
            let apps = await blocking { named ?? connector.found() }
            if !apps.isEmpty {
                let server = try await context.connectServer()
                let target = try server.target(model)
                if !server.isServing { context.console.sayServerIsMissing() }
                for app in apps {
                    await report.adding(app, valuesOnFailure: { connector.values(app, target) }) {
                        let done = try await connector.connect(app, target, isDry: isDry)
                        return (done.plan, done.changes)
                    }
                }
            }
        }
        try report.finish(isUndone: isUndone)
    }
}

extension ConnectedApp {
    /// The app of a word; Claude Code has two.
    init?(named name: String) {
        self.init(rawValue: name == "claude-code" ? "claude" : name)
    }
}

extension CommandContext {
    /// The server of this home as apps are to use it.
    fileprivate func connectServer() async throws -> ConnectServer {
        let configuration = try await configuration
        let place = ResidentPlace(home: try home, environment: environment)
        return try await ConnectServer.find(place, configuration) { try await hearth(configuration) }
    }
}

extension Console {
    fileprivate func sayServerIsMissing() {
        say("No process serves this home yet. Start one with: hearth serve --detach")
    }
}
