import HearthBase

/// The settings of the resident process, such as `serve.port`.
package struct ServerConfiguration: Sendable, Hashable {
    /// The port without a setting; not that of another model server.
    package static let defaultPort: UInt16 = 4327

    package var port = Self.defaultPort
    /// How long an idle model stays in memory; `nil` until memory is short.
    package var keepAlive: Duration? = .seconds(300)
    /// Names under which other machines ask this one, besides addresses.
    package var hosts: [String] = []
    /// The origins of pages that may call the server.
    package var origins: [String] = []

    /// Who needs a key on this machine.
    package enum KeyRequirement: String, Sendable, Hashable, CaseIterable {
        /// Requests that came through a proxy which says so.
        case remote
        /// All programs, for proxies that do not say so.
        case always
    }
    package var requireKeys = KeyRequirement.remote

    /// What a start does about newer releases of the models in use.
    package enum Updates: String, Sendable, Hashable, CaseIterable {
        /// They are fetched and made live.
        case automatic = "auto"
        /// They are shown as available.
        case offer
        /// Nothing is asked.
        case off
    }
    package var updates = Updates.automatic

    /// The seconds that answers on their way may take at the end of the process; `nil` for an end within two seconds.
    package var drain: Int?
    /// The seconds for which a process that drains takes new requests after it said that it is not ready.
    package var drainDelay = 5

    /// The answers that one model computes side by side; `nil` lets the engine decide.
    package var slots: Int?
    /// The tokens of all these answers and their prompts together; `nil` for one context window.
    package var cells: Int?
    /// Seeds the answers to requests without a seed; `nil` for a different answer each time.
    package var seed: UInt32?
    /// Whether the default model answers requests for models that do not exist here.
    package var answersAnyModel = false
}
