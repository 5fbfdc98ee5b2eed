/// The settings `library.*`.
package struct LibraryConfiguration: Sendable, Hashable {
    /// The models that lists show before they were ever on the device: repositories of the Hub and addresses.
    package var models: [String] = []
}
