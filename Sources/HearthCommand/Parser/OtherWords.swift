/// The words with which other programs name what Hearth does, for hints. A row of words that delete has no command: a
/// hint never names one.
enum OtherWords {
    /// The words in place of a command or a group.
    static let commands = table([
        "install download fetch get": ["pull"],
        "ask talk prompt generate complete infer repl shell session say answer": ["chat"],
        "conversation conversations history": ["chats"],
        "start server daemon up api listen restart": ["serve"],
        "status": ["ps", "doctor"],
        "top processes loaded running": ["ps"],
        "quit exit bye kill halt shutdown down": ["stop"],
        "find lookup browse discover hub": ["search", "models"],
        "upgrade outdated refresh": ["update"],
        "available catalog tags installed dir": ["list"],
        "model library": ["models", "list"],
        "describe inspect details cat view about facts": ["show"],
        "select switch activate default": ["use"],
        "check health diagnose debug diagnostics logs log troubleshoot": ["doctor"],
        "validate checksum hash fsck": ["verify"],
        "downloads queue jobs progress": ["transfers"],
        "pause": ["transfers pause"],
        "resume continue": ["transfers resume", "chat"],
        "cancel abort": ["transfers"],
        "note memo memos": ["notes"],
        "add new": ["notes add", "reminders add", "calendar add"],
        "edit write": ["notes edit", "notes add"],
        "todo todos task tasks reminder remind due": ["reminders"],
        "event events agenda appointment appointments schedule meeting meetings cal": ["calendar"],
        "person people address addresses addressbook phone": ["contacts"],
        "habit routine routines": ["habits"],
        "settings setting preferences prefs options configure conf setup env": ["config"],
        "set": ["config set"],
        "unset": ["config"],
        "login auth token tokens apikey apikeys": ["keys"],
        "push upload deploy share": ["publish"],
        "create": ["publish", "notes add", "keys create"],
        "export": ["chats export", "notes export"],
        "rename": ["chats rename"],
        "image vision recognize recognise ocr scan detect": ["classify"],
        "embedding embeddings vector vectors": ["embed", "serve"],
        "cloud provider": ["route", "config"],
        "sign signing root": ["trust"],
        "license legal notices": ["licenses"],
        "completion autocomplete": ["completions"],
        "man manual docs usage commands ?": ["help"],
        "delete del uninstall erase rmi purge clean clear reset destroy drop forget revert restore redo": [],
    ])

    /// The words in place of a command of a group.
    static let inGroups = table([
        "new create write insert make generate": ["add", "create", "init"],
        "find search grep query": ["search", "list"],
        "get cat view open read print": ["show", "get", "list"],
        "all": ["list"],
        "change update modify put": ["edit", "set"],
        "stop hold": ["pause"],
        "start continue": ["resume"],
        "save backup dump": ["export"],
        "load restore": ["import"],
        "complete finish check tick": ["done", "log"],
        "delete del erase purge clear reset forget": [],
    ])

    /// A table with a row for each word.
    private static func table(_ rows: KeyValuePairs<String, [String]>) -> [String: [String]] {
        var table: [String: [String]] = [:]
        for (words, commands) in rows {
            for word in words.split(separator: " ") { table[String(word)] = commands }
        }
        return table
    }
}
