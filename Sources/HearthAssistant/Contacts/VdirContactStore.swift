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

    /// The changes that import a file of vCards, one for each card; a known UID is replaced. Lines that other programs can
    /// read keep their bytes.
    /// - Throws: `unusable-record` if the file has no vCard.
    package func importing(_ data: Data) async throws -> RecordImportPlan {
        try folder.refresh()
        return try ContactImport(folder: folder).plan(data)
    }

    package func problems() async throws -> [RecordProblem] {
        try folder.refresh()
        return try folder.unreadableProblems()
            + folder.keptFiles().map { file in
                // A kept file that a person has damaged has no card.
                let card = (try? ContentParser().parse(file.data))?.components.first { $0.name == "VCARD" }
                guard let card else {
                    return RecordProblem(.unreadableFile, id: "", "it has no VCARD", file: file.place)
                }
                let fault =
                    ContactImport.fault(card, data: file.data) ?? (.readable, "it can be read now; import its file")
                return RecordProblem(fault.code, id: card.text("UID") ?? "", fault.reason, file: file.place)
            }
    }

    /// All contacts as one file of vCards, each with its bytes.
    package func exported() async throws -> Data {
        try folder.refresh()
        var data = Data()
        for bytes in try folder.files.map({ try folder.contents(of: $0) }) + folder.keptFiles().map({ $0.data }) {
            data += bytes
            if bytes.last != UInt8(ascii: "\n") { data += Data("\r\n".utf8) }
        }
        return data
    }
}
