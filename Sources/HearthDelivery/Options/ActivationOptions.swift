/// The options of an activation.
package struct ActivationOptions: Sendable, Hashable {
    /// Hash every byte of the release again; a pull has just done that. Default `true`.
    package var rehashes = true
    /// Probe the release, if there is an engine. Default `true`.
    package var probes = true
    /// Probe the release although it needs more memory than the device has. Its artifact is still the one probed, as
    /// with ``PullOptions/ignoreMemory``.
    package var ignoresMemory = false

    /// Creates the default options.
    package init() {}
}
