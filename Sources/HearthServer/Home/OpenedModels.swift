import Hearth

/// The models under one set of settings, which leave memory with their last user. Every closure and request that uses them
/// holds this object, so that an answer ends with the models that it began with.
package final class OpenedModels: Sendable {
    package let hearth: Hearth
    /// Whether the models are closed with their last user; not those that an app opened for itself.
    private let isOwned: Bool

    package init(_ hearth: Hearth, isOwned: Bool = true) {
        self.hearth = hearth
        self.isOwned = isOwned
    }

    deinit {
        guard isOwned else { return }
        let hearth = hearth
        Task { await hearth.close() }
    }

    /// Ends downloads and answers, and unloads the models that the server opened.
    func close() async { if isOwned { await hearth.close() } }
}
