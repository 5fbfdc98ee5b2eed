import Foundation
import HearthBase

/// The file of the browsers' sessions: digests of their cookies and of their pages' secrets, and when they end.
///
/// ```json
/// { "format": 2, "sessions": [ { "sha256": "…", "page": "…", "until": "2026-12-24T10:00:00Z" } ] }
/// ```
package struct SessionFile: Sendable, Hashable {
    private struct Entry: Codable, Sendable, Hashable {
        var sha256: SHA256Digest
        var page: SHA256Digest
        var until: Date
    }

    private var entries: [Entry] = []

    private static let sizeLimit = 64 << 10

    private static func path(home: Path) -> Path { home.appending("server").appending("sessions.json") }

    /// Reads a home's sessions; none from a damaged or missing file: then browsers sign in again. Blocks.
    package static func load(home: Path) -> PageSessions {
        do {
            let data = try LocalFileSystem().contents(ofFile: path(home: home), limit: sizeLimit)
            let file = try SessionFile(data: data)
            return PageSessions(
                kept: Dictionary(
                    file.entries.map { entry in
                        let end = Duration.seconds(entry.until.timeIntervalSince1970)
                        return (entry.sha256, PageSessions.Session(page: entry.page, end: end))
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
                    until: Date(timeIntervalSince1970: session.end.seconds.rounded(.down)))
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
        try values.require(format: 2, .format)
        entries = try values.decode([Entry].self, forKey: .sessions)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(2, forKey: .format)
        try values.encode(entries, forKey: .sessions)
    }
}
