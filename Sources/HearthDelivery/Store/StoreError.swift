import HearthBase

/// The codes of ``StoreError``.
public enum StoreErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] {
        [
            .notInstalled, .noActiveRelease, .homeTooNew, .homeBusy, .homeUnusable, .receiptDamaged, .releaseDamaged,
            .stagedFileChanged, .reservedName, .releaseInUse, .notRepairable,
            .overBudget, .nothingBefore, .classesMismatched,
        ]
    }
}

/// What can go wrong with the models on this device.
public typealias StoreError = HearthError<StoreErrorDomain>

extension ErrorCode<StoreErrorDomain> {
    /// The family or release asked for is not on this device.
    public static var notInstalled: Self { "not-installed" }
    /// Releases of the family are installed, and none of them is active.
    public static var noActiveRelease: Self { "no-active-release" }
    /// A newer version of this program laid out the home folder.
    public static var homeTooNew: Self { "home-too-new" }
    /// Another process held the commit lock for too long.
    public static var homeBusy: Self { "home-busy" }
    /// Something in the home folder stands where a file or folder of ours belongs.
    public static var homeUnusable: Self { "home-unusable" }
    /// A release's receipt is missing, unreadable, or that of another release.
    public static var receiptDamaged: Self { "receipt-damaged" }
    /// A file of a release is missing or not the one its receipt tells of.
    public static var releaseDamaged: Self { "release-damaged" }
    /// A file to be installed is not the one that was announced.
    public static var stagedFileChanged: Self { "staged-file-changed" }
    /// A process reads the release that is to be removed.
    public static var releaseInUse: Self { "release-in-use" }
    /// A damaged release cannot be mended: nobody says where its files come from, or nobody has them any more.
    public static var notRepairable: Self { "not-repairable" }
    /// What has to stay takes more space than it was given.
    public static var overBudget: Self { "over-budget" }
    /// No release was active before the one that is, so there is no way back.
    public static var nothingBefore: Self { "nothing-before" }
    /// A classifier's list of classes is not that of the model.
    public static var classesMismatched: Self { "classes-mismatch" }
    /// A release or file has a name that the store keeps for itself.
    public static var reservedName: Self { "reserved-name" }
}

extension StoreError {
    /// The error for a release of which a file is not the one its receipt tells of.
    static func damaged(_ release: InstalledRelease, _ what: String) -> Self {
        StoreError(
            .releaseDamaged, "\(release.identity) is damaged: \(what)",
            context: ErrorContext(
                model: release.identity.description, file: release.folder.string,
                remedy: "Pull the model again, or remove it."))
    }

    /// The error for a release that somebody reads.
    static func inUse(_ identity: ReleaseIdentity, by holder: ProcessIdentity) -> Self {
        StoreError(
            .releaseInUse,
            "\(identity) is in use by process \(holder.number)\(holder == .current ? ", which is this one" : "")",
            context: ErrorContext(
                model: identity.description, found: "process \(holder.number)",
                remedy: "End it, or try again when it is done."), disposition: .tryLater)
    }
}
