import Foundation
import HearthBase

/// The user's address books in a vdir folder, which khard and vdirsyncer read and write, too.
///
/// ```
/// HOME/contacts/personal/UID.vcf    one vCard
/// ```
package actor VdirContactStore: ByteStore {
    private let executor = ThreadExecutor(name: "hearth.contacts")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    var folder: VdirFolder<[ContactRecord]>
    private let preferredCollection: String?

    /// A store of the folder `contacts` in `home`; nothing is written before the first import.
    package init(
        home: Path, collection: String? = nil, fileSystem: any FileSystem = LocalFileSystem(),
        time: TimeSource = .system
    ) {
        folder = VdirFolder(
            path: home.appending("contacts"), suffix: ".vcf", fileSystem: fileSystem, time: time, parse: VCard.contacts)
        preferredCollection = collection
    }

    /// The files that are not read, with the reason.
    package func unreadableFiles() async throws -> [String] { try folder.unreadableFiles() }

    package func records(matching words: String, limit: Int) throws -> [Contact] {
        try folder.refresh()
        let query = ContactQuery(words)
        var found: [(rank: Int, contact: Contact)] = []
        for file in folder.unorderedFiles {
            for record in file.record {
                guard let rank = record.rank(query) else { continue }
                var contact = record.contact
                contact.collection = file.collection
                found.append((rank, contact))
            }
        }
        return found.sorted { ($0.rank, $0.contact.name, $0.contact.id) < ($1.rank, $1.contact.name, $1.contact.id) }
            .prefix(max(0, limit)).map(\.contact)
    }

    /// The changes that import a file of vCards, one for each card, which keeps its bytes; a known UID is replaced.
    /// - Throws: `unusable-record` if the file has no vCard.
    package func importing(_ data: Data) async throws -> [RecordChange] {
        try folder.refresh()
        let document: ContentDocument
        do {
            document = try ContentParser(limits: ContentParser.collection, hasSoftBreaks: true).parse(data)
        } catch let failure as ContentParser.Failure {
            throw AssistantError(.unusableRecord, "the file of contacts cannot be read: \(failure.reason)")
        }
        let cards = document.components.filter { $0.name == "VCARD" }
        guard !cards.isEmpty else { throw AssistantError(.unusableRecord, "the file has no vCard") }
        var changes: [String: RecordChange] = [:]
        var ids: [String] = []
        for var card in cards {
            let id = VCard.identify(&card)
            if changes[id] == nil { ids.append(id) }
            changes[id] = try folder.importing(
                id, ContentDocument(items: [.component(card)]).data, store: .contacts, into: target)
        }
        return ids.compactMap { changes[$0] }
    }

    /// All contacts as one file of vCards, each with its bytes.
    package func exported() async throws -> Data {
        try folder.refresh()
        var data = Data()
        for file in folder.files {
            let bytes = try folder.contents(of: file)
            data += bytes
            if bytes.last != UInt8(ascii: "\n") { data += Data("\r\n".utf8) }
        }
        return data
    }

    package func apply(_ change: RecordChange) async throws { try folder.apply(change) }

    package func state(of change: RecordChange) async throws -> RecordState {
        try folder.refresh()
        return try folder.state(of: change)
    }

    /// The collection of new contacts.
    var target: String { folder.target(preferring: preferredCollection) }
}
