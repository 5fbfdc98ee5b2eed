/// Limits for the contents of an archive.
struct ArchiveLimits: Sendable, Hashable {
    /// The most files, and the most files and folders together.
    static let maximumFiles = 512
    static let maximumEntries = 1024
    /// The most times its own length an archive may unpack to if the publisher declares no lengths. Weights hardly
    /// shrink, texts to a tenth; deflate reaches 1032 only with zeros.
    static let maximumRatio: UInt64 = 50
    /// The bytes a small archive may unpack to, whatever its ratio.
    static let ratioAllowance: UInt64 = 16 << 20

    /// The most bytes of all files together.
    package var totalSize: UInt64
    package var entries = maximumEntries

    /// Limits from declared lengths.
    init(totalSize: UInt64, entries: Int = maximumEntries) {
        self.totalSize = totalSize
        self.entries = entries
    }

    /// Limits from the archive's own length, and the space its publisher says it needs, if known.
    init(packedSize: UInt64, storage: UInt64?) {
        let (product, isTooMuch) = packedSize.multipliedReportingOverflow(by: Self.maximumRatio)
        let byRatio = isTooMuch || product > .max - Self.ratioAllowance ? .max : product + Self.ratioAllowance
        totalSize = min(byRatio, storage ?? .max)
    }
}
