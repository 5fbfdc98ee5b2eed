/// The archive formats that a manifest may name.
package enum ArchiveFormat: String, Sendable, Hashable, Codable, CaseIterable {
    case zip, tar
    case tarGzip = "tar.gz"
    /// Recognized, but never unpacked: the archive decides how much memory that takes, up to 4 GiB.
    case tarXz = "tar.xz"
    case tarZstandard = "tar.zst"

    /// Whether this version unpacks the format on this platform.
    package var isSupported: Bool {
        #if os(Linux)
        self != .tarXz
        #else
        self != .tarXz && self != .tarZstandard
        #endif
    }

    /// The format that a file's name indicates, `nil` if the name has no archive extension.
    package init?(fileName: String) {
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

    /// A file's name without its archive extension.
    package static func unpackedName(_ fileName: String) -> String {
        ending(of: fileName).map { String(fileName.dropLast($0.text.count)) } ?? fileName
    }

    /// Whether a file of that name is an archive.
    package static func isArchiveName(_ name: String) -> Bool { Self(fileName: name) != nil }
}
