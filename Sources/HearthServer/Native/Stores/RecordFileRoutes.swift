import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP

/// Files of records: iCalendar and vCards.
struct RecordFileRoutes: Sendable {
    let records: Records
    /// Tells clients that records of a kind have changed.
    let changed: @Sendable (StoreKind) -> Void

    /// The types of imported files. A form of another site cannot send these.
    private static let types = ["text/calendar", "text/vcard"]
    /// The most bytes of an imported file.
    private static let limit = 32 << 20

    var all: [NativeRoute] {
        [
            .raw(
                "POST", "/stores/import", "Add the records of an iCalendar file, or the contacts of vCards",
                input: NativeRoute.Input(
                    example: nil, mediaTypes: Self.types,
                    describe: { _ in .object(["type": .string("string"), "format": .string("binary")]) },
                    check: { _ in }),
                mediaType: "application/json", output: { try $0.schema(of: RecordFileImport.self) }
            ) { call in
                let type = call.request.headers["Content-Type"].map { $0.prefix { $0 != ";" }.trimmed.lowercased() }
                guard let type, Self.types.contains(type) else {
                    throw NativeFailure(
                        415, "media-type", "the body must be one of \(Self.types.joined(separator: ", "))")
                }
                let data = Data(try await call.request.body.collect(limit: Self.limit))
                let counts: RecordFileImport
                do {
                    counts = try await records.importFile(data)
                } catch {
                    // A part may have been written, and taken back.
                    for kind in [StoreKind.calendar, .reminders, .contacts] { changed(kind) }
                    throw error
                }
                let kinds: [(StoreKind, RecordImport?)] = [
                    (.calendar, counts.events), (.reminders, counts.reminders), (.contacts, counts.contacts),
                ]
                for (kind, count) in kinds where count?.action != nil { changed(kind) }
                return try NativeRoute.json(counts)
            },
            export("calendar", "The events as iCalendar", "text/calendar; charset=utf-8", "calendar.ics") {
                try await records.events.export()
            },
            export("reminders", "The reminders as iCalendar", "text/calendar; charset=utf-8", "reminders.ics") {
                try await records.reminders.export()
            },
            export("contacts", "The contacts as vCards", "text/vcard; charset=utf-8", "contacts.vcf") {
                try await records.contacts.export()
            },
            export("notes", "The notes as JSON", "application/json", "notes.json") {
                try await records.notes.export()
            },
            export("habits", "The habits as JSON", "application/json", "habits.json") {
                try await records.habits.export()
            },
        ]
    }

    private func export(
        _ store: String, _ summary: String, _ type: String, _ name: String,
        _ data: @escaping @Sendable () async throws -> Data
    ) -> NativeRoute {
        .raw("GET", "/stores/\(store)/export", summary, mediaType: String(type.prefix { $0 != ";" })) { _ in
            let headers: HTTPHeaders = [
                "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Type": type,
                "Content-Disposition": "attachment; filename=\"\(name)\"",
            ]
            return ServerReply(status: 200, headers: headers, body: .bytes([UInt8](try await data())))
        }
    }
}
