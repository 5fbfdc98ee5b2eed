import Foundation
import HearthBase

/// The last good copy of an origin's manifest, for when the origin does not answer.
///
/// ```
/// <home>/catalogs/<SHA-256 of the address>/
///   <SHA-256 of the manifest>.json   the bytes as they came
///   record.json                      which bytes, from where, when, and how to ask whether they changed
/// ```
/// The bytes are written before the record that names them, so an interruption leaves the copy before. Whatever is read back
/// is checked as if it came from outside.
struct KeptCatalog: Sendable, Hashable {
    /// What is known of the copy beside its bytes.
    struct Record: Sendable, Hashable {
        /// Where the bytes really came from, without user and query: addresses in them are relative to it.
        var location: URL
        var digest: SHA256Digest
        var validators: CatalogValidators
        /// When the bytes came.
        var fetched: Date
        /// When the origin last said that they are what it has.
        var checked: Date
        /// The highest serial seen from this origin.
        var serial: UInt64?

        /// The largest file that is read, in bytes.
        static let sizeLimit = 1 << 14
    }

    var record: Record
    var data: Data
}

/// The copies of all origins of a home. Every call blocks.
struct KeptCatalogs: Sendable {
    let folder: Path
    let fileSystem: any FileSystem

    /// The folder of an origin's copy.
    func place(of url: URL) -> Path {
        let digest = SHA256Digest(hashing: Array(url.absoluteString.utf8)).hex
        return HomeLayout.join(folder, digest)
    }

    /// The copy of an origin, `nil` if there is none that can be used.
    func read(_ url: URL) throws -> KeptCatalog? {
        let place = place(of: url)
        guard try isFile(Self.record(in: place)) else { return nil }
        let record = try KeptCatalog.Record(
            data: try fileSystem.contents(ofFile: Self.record(in: place), limit: KeptCatalog.Record.sizeLimit))
        guard Self.mayComeFrom(record.location, url) else { throw Damage("it names \(record.location.shown)") }
        let file = Self.bytes(record.digest, in: place)
        guard try isFile(file) else { throw Damage("the manifest is missing") }
        let data = try fileSystem.contents(ofFile: file, limit: Catalog.maximumManifestSize)
        guard SHA256Digest(hashing: data) == record.digest else { throw Damage("the manifest has changed") }
        return KeptCatalog(record: record, data: data)
    }

    /// The highest serial that is written down for an origin, also where its bytes are lost.
    func serial(_ url: URL) throws -> UInt64? {
        let path = Self.record(in: place(of: url))
        guard try isFile(path) else { return nil }
        let data = try fileSystem.contents(ofFile: path, limit: KeptCatalog.Record.sizeLimit)
        return try KeptCatalog.Record(data: data).serial
    }

    /// Keeps a copy in place of the one before.
    /// - Returns: whether it was kept; not while another process keeps one, or where it has seen a higher serial since.
    @discardableResult
    func keep(_ copy: KeptCatalog, of url: URL) throws -> Bool {
        let place = place(of: url)
        try fileSystem.makeFolders(place)
        guard let lock = try FileLock.tryAcquire(place.appending("lock")) else { return false }
        defer { lock.release() }
        if let seen = seenSerial(url), CatalogFreshness.isRollback(serial: copy.record.serial, seen: seen) {
            return false
        }
        let file = Self.bytes(copy.record.digest, in: place)
        // The same bytes under the same name need not be written again, if they still are those bytes.
        if try !holds(file, copy.record.digest) { try fileSystem.replaceContents(of: file, with: copy.data) }
        try fileSystem.replaceContents(of: Self.record(in: place), with: try copy.record.data())
        sweep(place, except: file.lastComponent)
        return true
    }

    /// A record that cannot be read has no serial to defend.
    private func seenSerial(_ url: URL) -> UInt64? {
        do {
            return try serial(url)
        } catch {
            Log.write(.info, "delivery.catalog", "\(place(of: url)): \(error)")
            return nil
        }
    }

    private func holds(_ path: Path, _ digest: SHA256Digest) throws -> Bool {
        guard try isFile(path), let status = try fileSystem.status(at: path, followLinks: false),
            status.size <= UInt64(Catalog.maximumManifestSize)
        else { return false }
        return try fileSystem.digest(ofFile: path) == digest
    }

    /// Removes the bytes of earlier copies and what an interruption left.
    private func sweep(_ place: Path, except kept: String) {
        do {
            for name in try fileSystem.contents(of: place) where name != kept && name != "record.json" && name != "lock"
            {
                try fileSystem.removeFile(HomeLayout.join(place, name))
            }
        } catch {
            Log.write(.info, "delivery.catalog", "\(place) is not swept: \(error)")
        }
    }

    /// What a copy that nobody asks for may leave behind, by the name of its folder: everything but a record that tells a serial.
    /// The origin may be asked again one day, and must not go back behind it.
    func leavings(_ name: String) throws -> [Path] {
        let place = HomeLayout.join(folder, name)
        let record = Self.record(in: place)
        var keepsRecord = false
        if try isFile(record) {
            do {
                let data = try fileSystem.contents(ofFile: record, limit: KeptCatalog.Record.sizeLimit)
                keepsRecord = try KeptCatalog.Record(data: data).serial != nil
            } catch {
                Log.write(.info, "delivery.catalog", "\(place): \(error)")
            }
        }
        return try fileSystem.contents(of: place).map { HomeLayout.join(place, $0) }
            .filter { !keepsRecord || ($0 != record && $0.lastComponent != "lock") }
    }

    /// Removes these, and the folder with the last of them; not while somebody keeps a copy there.
    func discard(_ name: String) throws -> Bool {
        let place = HomeLayout.join(folder, name)
        guard let lock = try FileLock.tryAcquire(place.appending("lock")) else { return false }
        defer { lock.release() }
        let leavings = try leavings(name)
        for path in leavings { try fileSystem.removeTree(path) }
        if try fileSystem.contents(of: place).allSatisfy({ $0 == "lock" }) { try fileSystem.removeTree(place) }
        return true
    }

    private func isFile(_ path: Path) throws -> Bool {
        try fileSystem.status(at: path, followLinks: false)?.kind == .file
    }

    private static func record(in place: Path) -> Path { place.appending("record.json") }
    private static func bytes(_ digest: SHA256Digest, in place: Path) -> Path {
        HomeLayout.join(place, digest.hex + ".json")
    }

    /// Whether bytes asked for at one address may have come from another: a redirect never leaves `https`.
    private static func mayComeFrom(_ location: URL, _ url: URL) -> Bool {
        guard location.user == nil, location.password == nil, location.host?.isEmpty == false else { return false }
        switch location.scheme {
        case "https": return true
        case "http": return location.isLoopback && url.scheme?.lowercased() == "http"
        default: return false
        }
    }

    /// What is wrong with a copy.
    private struct Damage: Error, CustomStringConvertible {
        let description: String
        init(_ problem: String) { description = problem }
    }
}

extension KeptCatalog.Record: DiskRecord {
    private enum Key: String, CodingKey {
        case format, location, sha256, entityTag, lastModified, revalidate, fetched, checked, serial
    }

    static let currentFormat = 1

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        func refuse(_ key: Key, _ why: String) -> DecodingError {
            DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: why)
        }
        guard try values.decode(Int.self, forKey: .format) == Self.currentFormat else {
            throw refuse(.format, "this version reads records of format 1 only")
        }
        let text = try values.decode(String.self, forKey: .location)
        guard text.utf8.count <= 8192, text.isPlain(), let location = URL(string: text) else {
            throw refuse(.location, "no address")
        }
        self.location = location
        digest = try values.decode(SHA256Digest.self, forKey: .sha256)
        func validator(_ key: Key) throws -> String? {
            guard let text = try values.decodeIfPresent(String.self, forKey: key) else { return nil }
            guard let fit = CatalogValidators.sendable(text) else { throw refuse(key, "no header can hold it") }
            return fit
        }
        validators = CatalogValidators(
            entityTag: try validator(.entityTag), lastModified: try validator(.lastModified),
            mustRevalidate: try values.decode(Bool.self, forKey: .revalidate))
        fetched = try values.decode(Date.self, forKey: .fetched)
        checked = try values.decode(Date.self, forKey: .checked)
        serial = try values.decodeIfPresent(UInt64.self, forKey: .serial)
        if let serial, serial > ManifestReader.largestInteger { throw refuse(.serial, "no manifest can have it") }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.currentFormat, forKey: .format)
        try values.encode(location.absoluteString, forKey: .location)
        try values.encode(digest, forKey: .sha256)
        try values.encodeIfPresent(validators.entityTag, forKey: .entityTag)
        try values.encodeIfPresent(validators.lastModified, forKey: .lastModified)
        try values.encode(validators.mustRevalidate, forKey: .revalidate)
        try values.encode(fetched, forKey: .fetched)
        try values.encode(checked, forKey: .checked)
        try values.encodeIfPresent(serial, forKey: .serial)
    }
}
