import Foundation
import HearthBase
import HearthServer

/// `hearth keys create NAME`
struct KeysCreate: Command {
    @Argument("NAME", .keyName, "What the key is for, such as a device's name.")
    var name: String
    @Option(
        "scopes", "SCOPES",
        .several("some of chat, models and admin, separated by commas"), default: "chat",
        "chat: ask models. models: pull and remove them. admin: everything else.") var scopes: Set<ServerScope> = [
            .chat
        ]

    static let declaration = CommandDeclaration(
        "keys", "create", summary: "Make a key for another machine",
        """
        Prints the key once; only its digest is kept. Clients send it as their API key. A running server takes it at
        once.

        hearth keys create laptop  # A key that may ask models.
        hearth keys create script --scopes chat,models,admin  # A key that may do everything.
        """)

    func run(in context: CommandContext) async throws {
        let now = context.time.now
        let key = try await AccessKeys.change(home: context.home, time: context.time) { [self] in
            try $0.create(name, scopes: scopes, at: now)
        }
        try context.console.print(key)
        context.console.say("This key is shown once.")
    }
}

/// `hearth keys list`
struct KeysList: Command {
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "keys", "list", summary: "List the keys of other machines",
        """
        With --format json, an array of objects with id, name, scopes and created.

        hearth keys list  # Show ids, names and rights.
        """)

    func run(in context: CommandContext) async throws {
        let home = try context.home
        let keys = try await blocking { try AccessKeys.load(home: home) }.keys
        try context.console.list(
            keys, format, json: JSONValue.array(keys.map(Self.entry)).text, empty: "There are no keys.",
            [
                .left("ID") { $0.id }, .left("NAME") { $0.name },
                .left("SCOPES") { $0.scopeNames.joined(separator: ",") },
                .left("CREATED") { $0.created.formatted(.iso8601) },
            ])
    }

    private static func entry(_ key: AccessKeys.Key) -> JSONValue {
        [
            "id": .string(key.id), "name": .string(key.name),
            "scopes": .array(key.scopeNames.map { .string($0) }),
            "created": .string(key.created.formatted(.iso8601)),
        ]
    }
}

/// `hearth keys revoke ID`
struct KeysRevoke: Command {
    @Argument("ID", .word, "The key's id, or its name; hearth keys list shows them.") var word: String

    static let declaration = CommandDeclaration(
        "keys", "revoke", summary: "End a key", isDestructive: true,
        """
        A running server refuses it at once.

        hearth keys revoke 3f9c2a1b  # End that key.
        """)

    func run(in context: CommandContext) async throws {
        let id = try await AccessKeys.change(home: context.home, time: context.time) { [word] in try $0.revoke(word) }
        context.console.say("The key \(id) is revoked.")
    }
}

extension AccessKeys.Key {
    fileprivate var scopeNames: [String] { scopes.map(\.rawValue).sorted() }
}
