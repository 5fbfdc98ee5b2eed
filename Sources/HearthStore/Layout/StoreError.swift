import HearthBase
import HearthCatalog

extension InstalledRelease: ErrorDomain {}

/// Errors of the models on this device.
public typealias StoreError = HearthError<InstalledRelease>

extension ErrorCode<InstalledRelease> {
    /// The requested family or release is not on this device.
    public static var notInstalled: Self { "not-installed" }
    /// Releases of the family are installed, and none of them is active.
    public static var noActiveRelease: Self { "no-active-release" }
    /// A newer version of this program laid out the home folder.
    public static var homeTooNew: Self { "home-too-new" }
    /// An older version of this program laid out the home folder, and this version does not convert it.
    public static var homeTooOld: Self { "home-too-old" }
    /// Another process held the commit lock for too long.
    public static var homeBusy: Self { "home-busy" }
    /// Something else is in the place of a file or folder in the home folder.
    public static var homeUnusable: Self { "home-unusable" }
    /// A release's receipt is missing, unreadable, or that of another release.
    public static var receiptDamaged: Self { "receipt-damaged" }
    /// A file of a release is missing or differs from the receipt.
    public static var releaseDamaged: Self { "release-damaged" }
    /// A file to install differs from its announced length or digest.
    public static var stagedFileChanged: Self { "staged-file-changed" }
    /// A process reads the release that is to be removed.
    public static var releaseInUse: Self { "release-in-use" }
    /// A damaged release cannot be repaired: its files have no download URL, or their source no longer has them.
    public static var notRepairable: Self { "not-repairable" }
    /// The releases that have to stay exceed the space budget.
    public static var overBudget: Self { "over-budget" }
    /// No release was active before the present one, so a rollback is impossible.
    public static var nothingBefore: Self { "nothing-before" }
    /// A classifier's list of classes does not fit the model.
    public static var classesMismatched: Self { "classes-mismatch" }
    /// An artifact is not kept: it is empty, or two processes ended while they built it. The release is used without
    /// it.
    public static var artifactRefused: Self { "artifact-refused" }
    /// A release or file has a name that the store reserves.
    public static var reservedName: Self { "reserved-name" }
    /// An engine tried the release, and its answer was wrong or missing. The release does not become live.
    public static var probeFailed: Self { "probe-failed" }
    /// An archive contains something that no model needs and that could do harm: a path that leads out, a link, a
    /// device, two names for one file, an encrypted file.
    public static var archiveUnsafe: Self { "archive-unsafe" }
    /// An archive contains more files or bytes than its publisher declares, or than an archive of its length may
    /// contain.
    public static var archiveTooLarge: Self { "archive-too-large" }
    /// An archive is cut off, broken, followed by other bytes, or of another format than declared.
    public static var archiveDamaged: Self { "archive-damaged" }
    /// A file in an archive is not the one that the manifest lists, not listed, or missing.
    public static var archiveMismatch: Self { "archive-mismatch" }
}

extension StoreError {
    /// Whether an archive was refused for its contents. Files already unpacked from it are removed.
    package var refusesArchive: Bool {
        [.archiveUnsafe, .archiveTooLarge, .archiveDamaged, .archiveMismatch].contains(code)
    }

    /// The error for a refused archive called `label`.
    static func refusedArchive(
        _ code: ErrorCode<InstalledRelease>, _ label: String, _ problem: String, expected: String? = nil,
        found: String? = nil
    ) -> Self {
        Self(
            code, "the archive \(label) is not unpacked: \(problem)",
            context: ErrorContext(
                file: label, expected: expected, found: found,
                remedy: "Nothing of it was kept. Tell the publisher, or ask for the plain files."))
    }

    /// The error for a release with a file that differs from its receipt.
    package static func damaged(_ release: InstalledRelease, _ what: String) -> Self {
        StoreError(
            .releaseDamaged, "\(release.identity) is damaged: \(what)",
            context: ErrorContext(
                model: release.identity.description, file: release.folder.string,
                remedy: "Pull the model again, or remove it."))
    }

    /// The error for an artifact that is not kept.
    static func artifactRefused(_ file: String, of release: InstalledRelease, _ reason: String) -> Self {
        StoreError(
            .artifactRefused, "the artifact \(file) of \(release.identity) is not kept: \(reason)",
            context: ErrorContext(model: release.identity.description, file: file))
    }

    /// The error for a release or family that is not on this device.
    package static func notInstalled(_ what: String) -> Self {
        StoreError(
            .notInstalled, "\(what) is not installed",
            context: ErrorContext(model: what, remedy: "Pull it first."))
    }

    /// The error for a family without a release of the version and variant.
    package static func notInstalled(_ family: Family, _ version: ReleaseVersion?, _ variant: Variant?) -> Self {
        notInstalled(family.name + (version.map { "@\($0)" } ?? "") + (variant.map { ":\($0)" } ?? ""))
    }

    /// The error for a release that a process reads.
    package static func inUse(_ identity: ReleaseIdentity, by holder: ProcessIdentity) -> Self {
        StoreError(
            .releaseInUse,
            "\(identity) is in use by process \(holder.number)\(holder == .current ? ", which is this one" : "")",
            context: ErrorContext(
                model: identity.description, found: "process \(holder.number)",
                remedy: "End it, or try again when it is done."), disposition: .tryLater)
    }
}
