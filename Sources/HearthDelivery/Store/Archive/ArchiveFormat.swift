/// The archives a manifest may name.
public enum ArchiveFormat: String, Sendable, Hashable, Codable, CaseIterable {
    case zip, tar
    case tarGzip = "tar.gz"
    /// Known, and not unpacked: how much memory unpacking takes is the archive's own choice, up to 4 GiB.
    case tarXz = "tar.xz"
    case tarZstandard = "tar.zst"

    /// Whether this version unpacks it on this platform.
    public var isSupported: Bool {
        #if os(Linux)
            self != .tarXz
        #else
            false
        #endif
    }

    /// The format that goes with a file's name, `nil` for one that is no archive's.
    public init?(fileName: String) {
        guard let format = Self.ending(of: fileName)?.format else { return nil }
        self = format
    }

    private static let endings: [(text: String, format: Self)] = [
        (".zip", .zip), (".tar", .tar), (".tar.gz", .tarGzip), (".tgz", .tarGzip), (".tar.xz", .tarXz),
        (".tar.zst", .tarZstandard),
    ]

    private static func ending(of fileName: String) -> (text: String, format: Self)? {
        let name = fileName.lowercased()
        return endings.first { name.hasSuffix($0.text) }
    }

    /// The name of what is packed: a file's name without an archive's ending.
    package static func unpackedName(_ fileName: String) -> String {
        ending(of: fileName).map { String(fileName.dropLast($0.text.count)) } ?? fileName
    }

    /// Whether a file of that name is an archive and not what is inside.
    static func isArchiveName(_ name: String) -> Bool { Self(fileName: name) != nil }
}
