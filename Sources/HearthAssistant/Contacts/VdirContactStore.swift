import Foundation
import HearthBase

/// The user's address books in a vdir folder, which khard and vdirsyncer read and write, too.
///
/// ```
/// HOME/contacts/personal/UID.vcf    one vCard
/// ```
package actor VdirContactStore: VdirStore {
    private let executor = ThreadExecutor(name: "hearth.contacts")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package var folder: VdirFolder<ContactRecord>

    /// A store of the folder `contacts` in `home`; nothing is written before the first import.
    package init(home: Path, own: OwnCollections = OwnCollections([]), time: TimeSource = .system) {
        folder = VdirFolder(
            path: home.appending("contacts"), suffix: ".vcf", own: own, time: time, parse: VCard.contacts)
    }

    /// The address books that the user named as their own.
    var ownBooks: [String] { folder.own.names }

    package func records(matching words: String, limit: Int) throws -> [Contact] {
        try folder.refresh()
        let query = ContactQuery(words)
        var found: [(rank: Int, contact: Contact)] = []
        for file in folder.unorderedFiles {
            for record in file.records {
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
        let cards = try ContentParser.imported(data, "VCARD", kind: "vCard", hasSoftBreaks: true)
        var changes: [String: RecordChange] = [:]
        var ids: [String] = []
        for var card in cards {
            let id = VCard.identify(&card)
            if changes[id] == nil { ids.append(id) }
            changes[id] = try folder.importing(id, Data(card.bytes), store: .contacts)
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
}
