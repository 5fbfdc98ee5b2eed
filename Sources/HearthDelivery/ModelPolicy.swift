import HearthBase
import HearthCatalog
import HearthStore

/// How fresh a model has to be, and when the network may be used for it.
public enum ModelPolicy: Sendable, Hashable, CaseIterable {
    /// Uses the local model, and never the network.
    case localOnly
    /// Uses the local model at once, and updates it in the background for the next request or the next start. Waits for
    /// a download only if there is no local model.
    case localWithBackgroundUpdate
    /// Waits for the newest model; uses the local one if there is no newer one or it cannot be pulled.
    case latest
}

/// The action of a check for updates.
package enum UpdateAction: Sendable, Hashable {
    /// Reports updates, and fetches nothing but catalogs.
    case look
    /// Pulls and activates updates.
    case install
}

/// The result of a check for updates. A failure needs no reaction: the live release stays live.
package struct UpdateCheck: Sendable {
    /// A failed part of the check.
    package struct Failure: Sendable {
        /// The family whose update failed, `nil` for all.
        package let family: Family?
        package let error: any Error
    }

    /// The finding for each family, as far as the sources answered.
    package internal(set) var findings: [UpdateFinding] = []
    /// The releases that were pulled.
    package internal(set) var installed: [InstalledRelease] = []
    /// The failures; being offline is one.
    package internal(set) var failures: [Failure] = []
}

/// The models found on this device when the app started.
package struct StoredModels: Sendable {
    /// The model that new requests get, by family: the live release or the bundled one.
    package internal(set) var models: [Family: ModelAvailability] = [:]
    /// The reason why a live release cannot be used, by family.
    package internal(set) var problems: [Family: any Error] = [:]
    /// The reason why the store cannot be read, such as a home folder of a newer version; `nil` if it was read.
    package internal(set) var failure: (any Error)?
}
