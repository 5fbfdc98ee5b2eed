import HearthBase

/// The codes of ``ArchiveError``.
public enum ArchiveErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] { [.unsafe, .tooLarge, .damaged, .mismatch] }
}

/// Errors of an archive that is refused. Files already unpacked from it are removed.
public typealias ArchiveError = HearthError<ArchiveErrorDomain>

extension ErrorCode<ArchiveErrorDomain> {
    /// It contains something that no model needs and that could do harm: a path that leads out, a link, a device, two
    /// names for one file, an encrypted file.
    public static var unsafe: Self { "archive-unsafe" }
    /// It contains more files or bytes than its publisher declares, or than an archive of its length may contain.
    public static var tooLarge: Self { "archive-too-large" }
    /// It is cut off, broken, followed by other bytes, or of another format than declared.
    public static var damaged: Self { "archive-damaged" }
    /// A file in it is not the one that the manifest lists, not listed, or missing.
    public static var mismatch: Self { "archive-mismatch" }
}

extension ArchiveError {
    /// The error for an archive called `label`.
    package static func refused(
        _ code: ErrorCode<ArchiveErrorDomain>, _ label: String, _ problem: String, expected: String? = nil,
        found: String? = nil, underlying: (any Error)? = nil
    ) -> Self {
        Self(
            code, "the archive \(label) is not unpacked: \(problem)",
            context: ErrorContext(
                file: label, expected: expected, found: found,
                remedy: "Nothing of it was kept. Tell the publisher, or ask for the plain files."),
            underlying: underlying)
    }
}

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
