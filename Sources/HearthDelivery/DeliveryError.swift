import HearthBase

/// The codes of ``DeliveryError``.
public enum DeliveryErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] {
        [
            .digestMissing, .downgrade, .noOrigin, .ambiguous, .appTooOld, .unusableName,
            .catalogExpired, .notEnoughMemory, .archiveUnsupported, .insufficientStorage,
            .meteredNetwork, .offline, .sourceUnreachable, .notInRollout, .heldBack, .modelUnloading,
        ]
    }
}

/// A delivery that was refused before or after its bytes came.
public typealias DeliveryError = HearthError<DeliveryErrorDomain>

extension ErrorCode<DeliveryErrorDomain> {
    /// The catalog gives no digest for a remote file, and the user did not allow that.
    public static var digestMissing: Self { "digest-missing" }
    /// The catalog offers an older version than the active one.
    public static var downgrade: Self { "downgrade-refused" }
    /// No origin is configured.
    public static var noOrigin: Self { "no-origin" }
    /// Several origins or families fit what was asked for.
    public static var ambiguous: Self { "ambiguous-reference" }
    /// The release needs a newer version of the embedding app.
    public static var appTooOld: Self { "app-too-old" }
    /// No model name can be made of a local file's name.
    public static var unusableName: Self { "unusable-name" }
    /// The catalog is past its date; nothing new is installed from it.
    public static var catalogExpired: Self { "catalog-expired" }
    /// The release is an archive, and this version unpacks none.
    public static var archiveUnsupported: Self { "archive-unsupported" }
    /// The model needs more memory than the device has.
    public static var notEnoughMemory: Self { "not-enough-memory" }
    /// The disk has not enough free space for the release, or does not say how much it has.
    public static var insufficientStorage: Self { "insufficient-storage" }
    /// The network is metered, and this download is only for those that are not.
    public static var meteredNetwork: Self { "metered-network" }
    /// There is no network.
    public static var offline: Self { "offline" }
    /// A source gave no answer when it was asked for something newer.
    public static var sourceUnreachable: Self { "source-unreachable" }
    /// The release is offered to a share of all devices, and this is none of them yet.
    public static var notInRollout: Self { "not-in-rollout" }
    /// The release did not prove itself on this device, or was left by a rollback.
    public static var heldBack: Self { "held-back" }
    /// The model's engines are on their way out of memory, and it is loaded again only after that.
    public static var modelUnloading: Self { "model-unloading" }
}
