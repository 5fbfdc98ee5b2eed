import Foundation
import HearthBase

/// The records of imported files that cannot be read, each with its bytes:
///
/// ```
/// calendar/
///     .unreadable/
///         1f0c….ics
/// ```
///
/// The name of the folder begins with a point, so that khal, todoman, khard and vdirsyncer do not read it: some of them fail
/// at such a file.
extension VdirFolder {
    /// The name of the folder.
    static var keptCollection: String { ".unreadable" }

    /// The most kept files that are read.
    private static var keptLimit: Int { 10_000 }

    private var keptPath: Path { path.joined(Self.keptCollection) }

    /// A place in the home folder, such as `calendar/personal/1f0c….ics`.
    func place(_ collection: String, _ name: String) -> String { "\(path.lastComponent)/\(collection)/\(name)" }

    /// The names of the kept files in order.
    func keptNames() throws -> [String] {
        guard try fileSystem.status(at: keptPath, followLinks: false)?.kind == .folder else { return [] }
        return Array(
            try fileSystem.contents(of: keptPath).filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.sorted()
                .prefix(Self.keptLimit))
    }

    /// The kept files by name, with their places in the home folder.
    func keptFiles() throws -> [(place: String, data: Data)] {
        try keptNames().compactMap { name in
            try keptData(name).map { (place: place(Self.keptCollection, name), data: $0) }
        }
    }

    /// The bytes of a kept file; `nil` without it.
    func keptData(_ name: String) throws -> Data? {
        let file = keptPath.joined(name)
        guard try fileSystem.status(at: file, followLinks: false)?.kind == .file else { return nil }
        return try fileSystem.contents(ofFile: file, limit: ContentParser.collection.bytes)
    }

    /// The change that keeps the bytes of a record; none for bytes that are kept already.
    /// - Parameter bytes: what is kept, without lines around it; the same bytes are kept once.
    func keeping(_ data: Data, named bytes: [UInt8], store: StoreKind) throws -> RecordChange {
        let name = String(SHA256Digest(hashing: bytes).hex.prefix(40)) + suffix
        let known = try keptData(name)
        return RecordChange(
            store: store, collection: Self.keptCollection, id: name, before: known, after: known ?? data)
    }
}
