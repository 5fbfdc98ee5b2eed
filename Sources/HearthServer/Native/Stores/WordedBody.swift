import Foundation
import HearthAssistant
import HearthBase

extension WordedKind: SchemaWord {}
extension WordLanguage: SchemaWord {}

/// Typed words, and where and when they were typed.
struct WordsOrder: Codable, Sendable {
    var kind: WordedKind
    var text: String
    /// The moment on the person's clock.
    var now: Date
    /// The IANA name of the person's zone.
    var zone: String
    /// The language that is tried first; English if it is absent.
    var language: WordLanguage?

    /// The words.
    /// - Throws: ``NativeFailure``.
    var words: TypedWords {
        get throws {
            // `UTC` is the one name without a part of the world.
            guard zone == "UTC" || zone.contains("/"), zone.utf8.count <= 64, let place = TimeZone(identifier: zone)
            else { throw NativeFailure.bad("zone", "a time zone such as Europe/Berlin") }
            guard (-2_208_988_800...32_503_680_000).contains(now.timeIntervalSince1970) else {
                throw NativeFailure.bad("now", "a time from 1900 to 3000")
            }
            return TypedWords(text, kind: kind, now: now, zone: place, language: language ?? .english)
        }
    }
}

/// What typed words say of a new record, with the members of the record. Nothing is stored.
struct WordedBody: Codable, Sendable, Hashable {
    var kind: WordedKind
    var title: String
    /// The text of a note, the notes of an event.
    var text: String?
    /// A day or a moment, as in records.
    var start: String?
    var end: String?
    var due: String?
    var timeZone: String?
    var location: String?
    var recurrence: String?
    var frequency: HabitFrequency?

    init(_ draft: WordedDraft) {
        kind = draft.kind
        title = draft.title
        text = draft.text
        start = draft.start?.text
        end = draft.end?.text
        due = draft.due?.text
        timeZone = (draft.start ?? draft.due)?.timeZone
        location = draft.location
        recurrence = draft.recurrence
        frequency = draft.frequency
    }
}

/// Words to search for.
struct SearchOrder: Codable, Sendable { var query: String }

/// A result of a search. Its texts were written by others, unless it is the user's own.
struct FoundBody: Codable, Sendable, Hashable {
    var title: String
    var excerpt: String
    /// The address of a web page.
    var url: String?
}

struct FoundListBody: Codable, Sendable, Hashable {
    /// The name of the search, such as `search.example.org`.
    var provider: String
    var results: [FoundBody]
}

/// The search that is set up.
struct SearchBody: Codable, Sendable, Hashable {
    var provider: String
    /// Whether the words leave the device.
    var isRemote: Bool
}

extension NativeService {
    /// Typed words, and searches without a model.
    static func wordRoutes(_ service: NativeService) -> [NativeRoute] {
        [
            .json(
                "POST", "/stores/drafts", "Read typed words as a new record; stores nothing",
                example: """
                    {"kind": "reminder", "text": "call Anna tomorrow at nine", "now": "2026-11-24T13:30:00.000Z", \
                    "zone": "Europe/Berlin", "language": "en"}
                    """
            ) { (_, order: WordsOrder) in
                let words = try order.words
                return WordedBody(await blocking { words.draft })
            },
            .json(
                "POST", "/search", "Search the web, or the user's own texts, as the settings say",
                example: #"{"query": "swifts in winter"}"#
            ) { (_, order: SearchOrder) in try await service.search(order.query) },
        ]
    }

    /// The most characters of a query.
    private static let queryLimit = 400

    private func search(_ query: String) async throws -> FoundListBody {
        let query = query.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...Self.queryLimit).contains(query.count) else {
            throw NativeFailure.bad("query", "words of at most \(Self.queryLimit) characters")
        }
        guard let search = await chats.assistant.search else {
            throw NativeFailure(
                409, "search-off", "no search is set up", remedy: "Choose a search in the settings.", field: "query")
        }
        let found = try await chats.assistant.search(query, with: search, limit: 10)
        return FoundListBody(
            provider: search.name,
            results: found.map { FoundBody(title: $0.title, excerpt: $0.excerpt, url: $0.url) })
    }

    /// The search that is set up; `nil` for none.
    func searchBody() async -> SearchBody? {
        await chats.assistant.search.map { SearchBody(provider: $0.name, isRemote: $0.isRemote) }
    }
}
