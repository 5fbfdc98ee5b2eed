import Foundation
import HearthBase

/// The key of an app, where the server refuses programs without one.
///
/// It is kept in `<home>/connect/<app>/key.json`, so that connecting again and `connect run` use the same one.
struct ConnectKey: DiskRecord, Sendable {
    var id: String
    var text: String

    private static func path(_ home: Path, _ app: ConnectedApp) -> Path {
        ConnectRecord.folder(home, app).appending("key.json")
    }

    /// The key that was made for an app; `nil` if there is none, or its file is damaged: then a new one is made. Blocks.
    static func load(_ home: Path, _ app: ConnectedApp) -> ConnectKey? {
        try? ConnectKey(data: LocalFileSystem().contents(ofFile: path(home, app), limit: 4096))
    }

    /// The key of an app, made if there is none that the server takes.
    /// - Throws: `ServerError`, `FileError`.
    static func make(
        _ app: ConnectedApp, home: Path, time: TimeSource
    ) async throws -> (key: ConnectKey, isNew: Bool) {
        let (known, keys) = try await blocking { (load(home, app), try AccessKeys.load(home: home)) }
        if let known, keys.key(known.text) != nil { return (known, false) }
        let name = "connect-\(app.rawValue)"
        let now = time.now
        let key = try await AccessKeys.change(home: home, time: time) { keys -> ConnectKey in
            // A key whose text is lost.
            if keys.keys.contains(where: { $0.name == name }) { try keys.revoke(name) }
            let text = try keys.create(name, scopes: [.chat], at: now)
            return ConnectKey(id: keys.key(text)?.id ?? name, text: text)
        }
        try await blocking {
            try LocalFileSystem().makeFolders(ConnectRecord.folder(home, app), permissions: 0o700)
            try LocalFileSystem().replaceContents(of: path(home, app), with: try key.data(), permissions: 0o600)
        }
        return (key, true)
    }

    /// Ends the key of an app.
    /// - Returns: whether there was one.
    /// - Throws: `ServerError`, `FileError`.
    @discardableResult
    static func end(_ app: ConnectedApp, home: Path, time: TimeSource) async throws -> Bool {
        guard let key = await blocking({ load(home, app) }) else { return false }
        _ = try await AccessKeys.change(home: home, time: time) { keys in
            if keys.keys.contains(where: { $0.id == key.id }) { try keys.revoke(key.id) }
        }
        try await blocking { try LocalFileSystem().removeFile(path(home, app)) }
        return true
    }
}
