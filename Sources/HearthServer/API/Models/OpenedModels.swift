import Hearth

/// The models under one set of settings, which leave memory with their last user. Every closure and request that uses them
/// holds this object, so that an answer ends with the models that it began with.
package final class OpenedModels: Sendable {
    package let hearth: Hearth

    package init(_ hearth: Hearth) { self.hearth = hearth }

    deinit {
        let hearth = hearth
        Task { await hearth.close() }
    }
}
