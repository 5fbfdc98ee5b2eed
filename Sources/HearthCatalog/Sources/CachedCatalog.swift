import Foundation
import HearthBase
import HearthHTTP

/// The last good copy of an origin's manifest, used when the origin does not answer.
///
/// ```
/// <home>/catalogs/<key of the origin, see Origin.key>/
///   <SHA-256 of the manifest>.json   the bytes as received
///   record.json                      digest of the bytes, their address and date, and the validators
/// ```
/// The bytes are written before the record that names them, so an interruption leaves the previous copy. Everything
/// read back is checked like input from the network.
package struct CachedCatalog: Sendable, Hashable {
    /// Facts about the copy that its bytes do not contain.
    package struct Record: Sendable, Hashable {
        /// The address after redirects, without user and query; relative addresses in the manifest start here.
        package var location: URL
        /// The SHA-256 of the whole requested address: the copy does not answer for another token or channel.
        package var asked: SHA256Digest
        package var digest: SHA256Digest
        var validators: CatalogValidators
        /// When the bytes were downloaded.
        package var fetched: Date
        /// When the origin last confirmed that the bytes are current.
        package var checked: Date
        /// The highest serial seen from this origin.
        package var serial: UInt64?

        /// The most bytes of a record that is read.
        package static let sizeLimit = 1 << 14
    }

    package var record: Record
    package var data: Data
}

/// The cached catalogs of all origins of a home. Every call blocks.
package struct CatalogCache: Sendable {
    package let folder: Path
    package let fileSystem: any FileSystem

    /// Memberwise.
    package init(folder: Path, fileSystem: any FileSystem) {
        self.folder = folder
        self.fileSystem = fileSystem
    }

    /// The folder of an origin's cached catalog.
    package func place(of origin: Origin) -> Path { place(named: origin.key.hex) }

    private func place(named name: String) -> Path { folder.joined(name) }

    /// The cached catalog of an origin, `nil` if it has none.
    package func read(_ origin: Origin) throws -> CachedCatalog? {
        let place = place(of: origin)
        guard let record = try record(in: place) else { return nil }
        guard Self.mayComeFrom(record.location, origin.manifestURL) else {
            throw CatalogError(.manifestInvalid, "it names \(record.location.shown)")
        }
        let file = Self.bytes(record.digest, in: place)
        guard try isFile(file) else { throw CatalogError(.manifestInvalid, "the manifest is missing") }
        let data = try fileSystem.contents(ofFile: file, limit: Catalog.maximumManifestSize)
        guard SHA256Digest(hashing: data) == record.digest else {
            throw CatalogError(.manifestInvalid, "the manifest has changed")
        }
        return CachedCatalog(record: record, data: data)
    }

    /// The highest recorded serial of an origin, even if the manifest's bytes are lost.
    package func serial(_ origin: Origin) throws -> UInt64? { try record(in: place(of: origin))?.serial }

    private func record(in place: Path) throws -> CachedCatalog.Record? {
        let path = Self.recordPath(in: place)
        guard try isFile(path) else { return nil }
        let data = try fileSystem.contents(ofFile: path, limit: CachedCatalog.Record.sizeLimit)
        return try CachedCatalog.Record(data: data)
    }

    /// The recorded serial; `nil` also if the record cannot be read.
    private func readableSerial(in place: Path) -> UInt64? {
        do {
            return try record(in: place)?.serial
        } catch {
            Log.write(.info, "\(place): \(error)")
            return nil
        }
    }

    /// Replaces the cached catalog of an origin.
    /// - Returns: `false` if another process is writing one, or has recorded a higher serial.
    @discardableResult
    package func keep(_ copy: CachedCatalog, of origin: Origin) throws -> Bool {
        let place = place(of: origin)
        try fileSystem.makeFolders(place)
        guard let lock = try FileLock.tryAcquire(place.appending("lock")) else { return false }
        defer { lock.release() }
        guard !Catalog.isRollback(serial: copy.record.serial, seen: readableSerial(in: place)) else { return false }
        let file = Self.bytes(copy.record.digest, in: place)
        // Identical bytes are not written again if the file still holds them.
        if try !holds(file, copy.record.digest) { try fileSystem.replaceContents(of: file, with: copy.data) }
        try fileSystem.replaceContents(of: Self.recordPath(in: place), with: try copy.record.data())
        sweep(place, except: file.lastComponent)
        return true
    }

    private func holds(_ path: Path, _ digest: SHA256Digest) throws -> Bool {
        guard try isFile(path), let status = try fileSystem.status(at: path, followLinks: false),
            status.size <= UInt64(Catalog.maximumManifestSize)
        else { return false }
        return try fileSystem.digest(ofFile: path) == digest
    }

    /// Removes earlier manifests and unfinished files.
    private func sweep(_ place: Path, except kept: String) {
        do {
            for name in try fileSystem.contents(of: place) where name != kept && name != "record.json" && name != "lock"
            {
                try fileSystem.removeFile(place.joined(name))
            }
        } catch {
            Log.write(.info, "\(place) is not swept: \(error)")
        }
    }

    /// The files of an unused copy that may be deleted, by folder name. A record with a serial stays: if the origin is
    /// used again, an older catalog must be refused.
    package func removableFiles(_ name: String) throws -> [Path] {
        let place = place(named: name)
        let kept = readableSerial(in: place) == nil ? [] : ["record.json", "lock"]
        return try fileSystem.contents(of: place).filter { !kept.contains($0) }.map { place.joined($0) }
    }

    /// Removes the files of ``removableFiles(_:)``, and the folder if it is then empty.
    /// - Returns: `false` if another process holds the lock.
    package func discard(_ name: String) throws -> Bool {
        let place = place(named: name)
        guard let lock = try FileLock.tryAcquire(place.appending("lock")) else { return false }
        defer { lock.release() }
        for path in try removableFiles(name) { try fileSystem.removeTree(path) }
        if try fileSystem.contents(of: place).allSatisfy({ $0 == "lock" }) { try fileSystem.removeTree(place) }
        return true
    }

    private func isFile(_ path: Path) throws -> Bool {
        try fileSystem.status(at: path, followLinks: false)?.kind == .file
    }

    private static func recordPath(in place: Path) -> Path { place.appending("record.json") }
    private static func bytes(_ digest: SHA256Digest, in place: Path) -> Path { place.joined("\(digest.hex).json") }

    /// Whether bytes requested from `url` may have come from `location`: a redirect never leaves `https`.
    private static func mayComeFrom(_ location: URL, _ url: URL) -> Bool {
        guard location.user == nil, location.password == nil, location.host?.isEmpty == false else { return false }
        switch location.scheme {
        case "https": return true
        case "http": return location.isLoopback && url.scheme?.lowercased() == "http"
        default: return false
        }
    }
}

extension CachedCatalog.Record: DiskRecord {
    private enum Key: String, CodingKey {
        case format, location, asked, sha256, entityTag, lastModified, revalidate, fetched, checked, serial
    }

    static let currentFormat = 1

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        try values.require(format: Self.currentFormat, .format)
        let text = try values.text(.location, atMost: 8192)
        guard text.isPlain(), let location = URL(address: text) else { throw values.refusal(.location, "no address") }
        self.location = location
        asked = try values.decode(SHA256Digest.self, forKey: .asked)
        digest = try values.decode(SHA256Digest.self, forKey: .sha256)
        func validator(_ key: Key) throws -> String? {
            try values.checkedIfPresent(key, or: "no header can hold it") { CatalogValidators.sendable($0) != nil }
        }
        validators = CatalogValidators(
            entityTag: try validator(.entityTag), lastModified: try validator(.lastModified),
            mustRevalidate: try values.decodeIfPresent(Bool.self, forKey: .revalidate))
        fetched = try values.decode(Date.self, forKey: .fetched)
        checked = try values.decode(Date.self, forKey: .checked)
        serial = try values.checkedIfPresent(.serial, or: "no manifest can have it") {
            $0 <= ManifestReader.largestInteger
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.currentFormat, forKey: .format)
        try values.encode(location.absoluteString, forKey: .location)
        try values.encode(asked, forKey: .asked)
        try values.encode(digest, forKey: .sha256)
        try values.encodeIfPresent(validators.entityTag, forKey: .entityTag)
        try values.encodeIfPresent(validators.lastModified, forKey: .lastModified)
        try values.encodeIfPresent(validators.mustRevalidate, forKey: .revalidate)
        try values.encode(fetched, forKey: .fetched)
        try values.encode(checked, forKey: .checked)
        try values.encodeIfPresent(serial, forKey: .serial)
    }
}
