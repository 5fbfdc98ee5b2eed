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
    case set(String)
    case system(String)
    case unknown(String)

    /// The commands with their arguments and help.
    static let table: [(names: [String], argument: String, help: String, make: @Sendable (String) -> ChatCommand)] = [
        (["/image"], "FILE", "show a picture with the next message", { .image($0) }),
        (["/file"], "FILE", "send the text of a file with the next message", { .file($0) }),
        (["/model"], "[REF]", "answer with another model, or show which one answers", { .model($0) }),
        (["/new", "/reset", "/clear"], "", "begin another conversation", { _ in .new(isPrivate: false) }),
        (
            ["/private"], "", "begin one that stays on this device, and of which nothing is kept",
            { _ in .new(isPrivate: true) }
        ),
        (["/open", "/chats"], "[ID]", "go on with an earlier conversation, or list them", { .open($0) }),
        (["/search"], "WORDS", "find words in conversations", { .search($0) }),
        (["/retry"], "", "answer again", { _ in .retry }),
        (["/edit"], "", "change your last message, and answer it again", { _ in .edit }),
        (["/continue"], "", "let a local model finish an answer that broke off", { _ in .continuation }),
        (["/do"], "[N]", "carry out a card that was not carried out", { .perform($0) }),
        (["/undo"], "[N]", "take an action back", { .undo($0) }),
        (["/copy"], "", "copy the last answer", { _ in .copy }),
        (["/export"], "[FILE]", "write the conversation as Markdown, or as JSON to a .json file", { .export($0) }),
        (["/stats"], "", "show or hide the facts of each answer, and what left this device", { _ in .stats }),
        (["/think"], "[on|off|show|fold]", "let the model think or not, and show it or not", { .think($0) }),
        (["/set"], "[NAME [VALUE]]", "change an option of this conversation, or show them", { .set($0) }),
        (["/system"], "[TEXT]", "take another system prompt, or show it", { .system($0) }),
        (["/help", "/?"], "", "show this list", { _ in .help }),
        (["/exit", "/quit", "/bye"], "", "end (Ctrl-D does too)", { _ in .exit }),
    ]

    /// The help for a terminal of a width; `nil` for no terminal.
    static func helpText(columns: Int?) -> String {
        let width = table.map { $0.names[0].count + $0.argument.count + 1 }.max() ?? 0
        let lines = table.map { entry in
            let name = "\(entry.names[0]) \(entry.argument)"
            guard let columns, columns < 2 * width else {
                return TerminalText.padded(name, to: width) + "  \(entry.help)"
            }
            return "\(name)\n  \(entry.help)"
        }
        return lines.joined(separator: "\n")
            + "\nA line that ends with \\ goes on in the next one; so does a block that begins with ```."
            + "\nCtrl-C stops an answer or gives up a line; on an empty line, twice ends the conversation."
    }

    init(_ text: String) {
        guard text.hasPrefix("/"), !text.contains("\n") else {
            self = text.isEmpty ? .nothing : .message
            return
        }
        let parts = text.split(separator: " ", maxSplits: 1)
        let rest = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
        let name = String(parts.first ?? "")
        self = Self.table.first { $0.names.contains(name) }?.make(String(rest)) ?? .unknown(name)
    }

    /// The continuations of a line: names of commands, and of files for those that read one.
    static func completion(of line: String, files: (String) -> [String]) -> LineCompletion {
        guard line.hasPrefix("/") else { return LineCompletion() }
        guard let space = line.firstIndex(of: " ") else {
            return LineCompletion(
                length: line.count, candidates: table.map { $0.names[0] }.filter { $0.hasPrefix(line) })
        }
        let name = line[..<space]
        if name == "/set" {
            let word = line[space...].drop { $0 == " " }
            let names = ConversationOption.names.filter { $0.hasPrefix(word) }
            return LineCompletion(length: word.count, candidates: word.contains(" ") ? [] : names)
        }
        guard ["/image", "/file", "/export"].contains(name) else { return LineCompletion() }
        let path = line[space...].drop { $0 == " " }
        return LineCompletion(length: path.count, candidates: files(String(path)))
    }
}
