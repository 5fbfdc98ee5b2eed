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

/// The result of a check for updates. A failure needs no reaction: the live release stays live.
public struct UpdateCheck: Sendable {
    /// The finding for each family, as far as the sources answered.
    public internal(set) var findings: [UpdateFinding] = []
    /// The releases that were pulled.
    public internal(set) var installed: [InstalledRelease] = []
    /// The failed updates, `family` being `nil` for all of them; being offline is one.
    public internal(set) var failures: [(family: Family?, error: any Error)] = []
}
