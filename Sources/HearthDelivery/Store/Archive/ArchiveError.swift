import HearthBase

/// The codes of ``ArchiveError``.
public enum ArchiveErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] { [.unsafe, .tooLarge, .damaged, .mismatch] }
}

/// An archive that is not unpacked. What was unpacked of it before is gone.
public typealias ArchiveError = HearthError<ArchiveErrorDomain>

extension ErrorCode<ArchiveErrorDomain> {
    /// It holds something that no model needs and that could do harm: a path that leads out, a link, a device, two names
    /// for one file, an encrypted file.
    public static var unsafe: Self { "archive-unsafe" }
    /// It holds more files or more bytes than its publisher declares, or than such an archive can honestly hold.
    public static var tooLarge: Self { "archive-too-large" }
    /// It is cut off, broken, followed by other bytes, or of another format than declared.
    public static var damaged: Self { "archive-damaged" }
    /// A file in it is not the one that the manifest lists, not listed, or missing.
    public static var mismatch: Self { "archive-mismatch" }
}

extension ArchiveError {
    /// The error for an archive called `label`.
    static func refused(
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

/// What an archive may hold at most.
struct ArchiveLimits: Sendable, Hashable {
    /// Files, and files and folders together.
    static let maximumFiles = 512
    static let maximumEntries = 1024
    /// How many times its own length an archive may unpack to where the publisher declares no lengths. Weights hardly
    /// shrink, texts to a tenth; deflate reaches 1032 with zeros alone.
    static let maximumRatio: UInt64 = 50
    /// What a small archive may unpack to whatever its ratio.
    static let ratioAllowance: UInt64 = 16 << 20

    /// The bytes of all files together.
    var totalSize: UInt64
    var entries = maximumEntries

    /// Limits of declared lengths.
    init(totalSize: UInt64, entries: Int = maximumEntries) {
        self.totalSize = totalSize
        self.entries = entries
    }

    /// Limits of an archive of which only its own length is known, and perhaps what its publisher says it needs.
    init(packedSize: UInt64, storage: UInt64?) {
        let (product, isTooMuch) = packedSize.multipliedReportingOverflow(by: Self.maximumRatio)
        let byRatio = isTooMuch || product > .max - Self.ratioAllowance ? .max : product + Self.ratioAllowance
        totalSize = min(byRatio, storage ?? .max)
    }
}
