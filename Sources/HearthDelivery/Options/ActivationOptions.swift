/// The current step of an activation.
public enum ActivationProgress: Sendable, Hashable {
    /// The release's files are hashed again.
    case verifying
    /// An engine makes an artifact: the recipe's summary, and the fraction that is done, 0...1.
    case preparing(String, fraction: Double)
    /// An engine probes the release.
    case probing
}

/// The options of an activation.
public struct ActivationOptions: Sendable, Hashable {
    /// Hash every byte of the release again; a pull has just done that. Default `true`.
    public var rehashes = true
    /// Probe the release, if there is an engine. Default `true`.
    public var probes = true
    /// Probe the release although it needs more memory than the device has. Its artifact is still the one probed, as
    /// with ``PullOptions/ignoreMemory``.
    public var ignoresMemory = false

    /// Creates the default options.
    public init() {}
}
