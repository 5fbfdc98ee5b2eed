/// The current step of an activation.
package enum ActivationProgress: Sendable, Hashable {
    /// The release's files are hashed again.
    case verifying
    /// An engine makes an artifact: the recipe's summary, and the fraction that is done, 0...1.
    case preparing(String, fraction: Double)
    /// An engine probes the release.
    case probing
}
