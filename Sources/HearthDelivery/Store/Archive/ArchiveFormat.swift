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

    /// Whether a file of that name is an archive and not what is inside.
    static func isArchiveName(_ name: String) -> Bool {
        let name = name.lowercased()
        return [".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst"].contains { name.hasSuffix($0) }
    }
}
