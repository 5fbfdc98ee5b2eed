import HearthBase

extension PullOutcome: ErrorDomain {}

/// A refused delivery, before or after its bytes arrived.
public typealias DeliveryError = HearthError<PullOutcome>

extension ErrorCode<PullOutcome> {
    /// The catalog gives no digest for a remote file, and the user did not allow that.
    public static var digestMissing: Self { "digest-missing" }
    /// The catalog offers an older version than the active one.
    public static var downgrade: Self { "downgrade-refused" }
    /// No origin is configured.
    public static var noOrigin: Self { "no-origin" }
    /// Several origins or families fit what was asked for.
    public static var ambiguous: Self { "ambiguous-reference" }
    /// No engine of this app runs the release.
    public static var incompatible: Self { "incompatible" }
    /// The release needs a newer version of the embedding app.
    public static var appTooOld: Self { "app-too-old" }
    /// The catalog is past its date; nothing new is installed from it.
    public static var catalogExpired: Self { "catalog-expired" }
    /// The release is an archive, and this version unpacks none.
    public static var archiveUnsupported: Self { "archive-unsupported" }
    /// The model needs more memory than the device has.
    public static var notEnoughMemory: Self { "not-enough-memory" }
    /// The disk has not enough free space for the release, or its free space is unknown.
    public static var insufficientStorage: Self { "insufficient-storage" }
    /// A source did not answer a check for updates.
    public static var sourceUnreachable: Self { "source-unreachable" }
    /// This device is outside the rollout percentage of the release.
    public static var notInRollout: Self { "not-in-rollout" }
    /// The publisher withdrew the release.
    public static var yanked: Self { "yanked" }
    /// The release failed on this device, or was rolled back.
    public static var heldBack: Self { "held-back" }
    /// The model is being unloaded; it can be loaded again afterwards.
    public static var modelUnloading: Self { "model-unloading" }
}
