import Foundation
import HearthBase

/// The file of the browsers' sessions: digests of their cookies and of their pages' secrets, when they began and end, and
/// the browsers' names for themselves. Format 2, of earlier versions, has no beginning and no name.
///
/// ```json
/// { "format": 3, "sessions": [ { "sha256": "…", "page": "…", "until": "2026-12-24T10:00:00Z",
///   "created": "2026-11-24T10:00:00Z", "agent": "Mozilla/5.0 …" } ] }
/// ```
package struct SessionFile: Sendable, Hashable {
    private struct Entry: Codable, Sendable, Hashable {
        var sha256: SHA256Digest
        var page: SHA256Digest
        var until: Date
        var created: Date?
        var agent: String?
    }

    private var entries: [Entry] = []

    private static let sizeLimit = 128 << 10

    private static func path(home: Path) -> Path { home.appending("server").appending("sessions.json") }

    /// Reads a home's sessions; none from a damaged or missing file: then browsers sign in again. Blocks.
    package static func load(home: Path) -> PageSessions {
        do {
            let data = try LocalFileSystem().contents(ofFile: path(home: home), limit: sizeLimit)
            let file = try SessionFile(data: data)
            return PageSessions(
                kept: Dictionary(
                    file.entries.map { entry in
                        let session = PageSessions.Session(
                            page: entry.page, end: .seconds(entry.until.timeIntervalSince1970),
                            agent: entry.agent ?? "",
                            created: entry.created.map { .seconds($0.timeIntervalSince1970) })
                        return (entry.sha256, session)
                    },
                    uniquingKeysWith: { first, _ in first }))
        } catch let error as FileError where error.code == .notFound {
            return PageSessions()
        } catch {
            Log.write(.warning, "server", "the sessions of browsers cannot be read", [.error(error)])
            return PageSessions()
        }
    }

    /// Writes a home's sessions, in a file that only its owner can read. Blocks.
    package static func save(_ sessions: PageSessions, home: Path, at now: Date) {
        var file = SessionFile()
        file.entries = sessions.kept(at: .seconds(now.timeIntervalSince1970))
            .sorted { $0.value.end > $1.value.end }
            .map { key, session in
                Entry(
                    sha256: key, page: session.page,
                    until: Date(timeIntervalSince1970: session.end.seconds.rounded(.down)),
                    created: session.created.map { Date(timeIntervalSince1970: $0.seconds.rounded(.down)) },
                    agent: session.agent)
            }
        do {
            let (fileSystem, path) = (LocalFileSystem(), path(home: home))
            try fileSystem.makeFolders(path.parent, permissions: 0o700)
            try fileSystem.replaceContents(of: path, with: file.data(), permissions: 0o600)
        } catch {
            Log.write(.warning, "server", "the sessions of browsers are not kept", [.error(error)])
        }
    }
}

extension SessionFile: DiskRecord {
    private enum CodingKeys: String, CodingKey { case format, sessions }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        if try values.decode(Int.self, forKey: .format) != 2 { try values.require(format: 3, .format) }
        entries = try values.decode([Entry].self, forKey: .sessions)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(3, forKey: .format)
        try values.encode(entries, forKey: .sessions)
    }
}
