/// The meaning of a line typed in a conversation with the assistant.
enum ChatCommand: Sendable, Hashable {
    case nothing
    case message
    case exit
    case help
    case new(isPrivate: Bool)
    case open(String)
    case search(String)
    case undo(String)
    case perform(String)
    case retry
    case continuation
    case edit
    case copy
    case export(String)
    case image(String)
    case file(String)
    case model(String)
    case stats
    case think(String)
    case unknown(String)

    /// The commands with their arguments and help.
    static let table: [(name: String, argument: String, help: String)] = [
        ("/image", "FILE", "show a picture with the next message"),
        ("/file", "FILE", "send the text of a file with the next message"),
        ("/model", "[REF]", "answer with another model, or show which one answers"),
        ("/new", "", "begin another conversation"),
        ("/private", "", "begin one that stays on this device, and of which nothing is kept"),
        ("/open", "[ID]", "go on with an earlier conversation, or list them"),
        ("/search", "WORDS", "find words in conversations"),
        ("/retry", "", "answer again"),
        ("/edit", "", "change your last message, and answer it again"),
        ("/continue", "", "let a local model finish an answer that broke off"),
        ("/do", "[N]", "carry out a card that was not carried out"),
        ("/undo", "[N]", "take an action back"),
        ("/copy", "", "copy the last answer"),
        ("/export", "[FILE]", "write the conversation as Markdown, or as JSON to a .json file"),
        ("/stats", "", "show or hide the facts of each answer, and what left this device"),
        ("/think", "[on|off|show|fold]", "let the model think or not, and show it or not"),
        ("/help", "", "show this list"),
        ("/exit", "", "end (Ctrl-D does too)"),
    ]

    static var helpText: String {
        let width = table.map { $0.name.count + $0.argument.count + 1 }.max() ?? 0
        let lines = table.map { entry in
            TerminalText.padded("\(entry.name) \(entry.argument)", to: width) + "  \(entry.help)"
        }
        return lines.joined(separator: "\n")
            + "\nA line that ends with \\ goes on in the next one; so does a block that begins with ```."
            + "\nCtrl-C gives up a line or stops an answer; twice at the prompt it ends the conversation."
    }

    init(_ text: String) {
        guard text.hasPrefix("/"), !text.contains("\n") else {
            self = text.isEmpty ? .nothing : .message
            return
        }
        let parts = text.split(separator: " ", maxSplits: 1)
        let rest = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
        let argument = String(rest)
        switch parts.first {
        case "/exit", "/quit", "/bye": self = .exit
        case "/help", "/?": self = .help
        case "/new", "/reset", "/clear": self = .new(isPrivate: false)
        case "/private": self = .new(isPrivate: true)
        case "/open", "/chats": self = .open(argument)
        case "/search": self = .search(argument)
        case "/undo": self = .undo(argument)
        case "/do": self = .perform(argument)
        case "/retry": self = .retry
        case "/continue": self = .continuation
        case "/edit": self = .edit
        case "/copy": self = .copy
        case "/export": self = .export(argument)
        case "/image": self = .image(argument)
        case "/file": self = .file(argument)
        case "/model": self = .model(argument)
        case "/stats": self = .stats
        case "/think": self = .think(argument)
        default: self = .unknown(String(parts.first ?? ""))
        }
    }

    /// The continuations of a line: names of commands, and of files for those that read one.
    static func completion(of line: String, files: (String) -> [String]) -> LineCompletion {
        guard line.hasPrefix("/") else { return LineCompletion() }
        guard let space = line.firstIndex(of: " ") else {
            return LineCompletion(length: line.count, candidates: table.map(\.name).filter { $0.hasPrefix(line) })
        }
        let name = line[..<space]
        guard ["/image", "/file", "/export"].contains(name) else { return LineCompletion() }
        let path = line[space...].drop { $0 == " " }
        return LineCompletion(length: path.count, candidates: files(String(path)))
    }
}
