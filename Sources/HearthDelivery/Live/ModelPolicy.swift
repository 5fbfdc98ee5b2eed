import HearthBase

/// How fresh a model has to be, and what may be done for that.
public enum ModelPolicy: Sendable, Hashable, CaseIterable {
    /// What is here, and never a question to the network.
    case localOnly
    /// What is here, at once; an update comes behind, for the next request or the next start. Only a model that is not here is
    /// waited for.
    case localWithBackgroundUpdate
    /// The newest there is, if it can be had; what is here otherwise.
    case latest
}

/// What a check for updates may do.
public enum UpdateAction: Sendable, Hashable {
    /// Look and say; nothing is fetched but the catalog.
    case look
    /// Bring what is newer, and make it live.
    case install
}

/// How a check for updates went. Nothing of it needs an answer: what was live before serves on.
public struct UpdateCheck: Sendable {
    /// A part of it that failed.
    public struct Failure: Sendable {
        /// The family it failed for, `nil` for all.
        public let family: Family?
        public let error: any Error
    }

    /// What the origins have for each installed family, as far as they answered.
    public internal(set) var findings: [UpdateFinding] = []
    /// What was brought and is live now.
    public internal(set) var installed: [InstalledRelease] = []
    /// What failed; being offline is one way.
    public internal(set) var failures: [Failure] = []
}

/// What was found on this device when the app started.
public struct StoredModels: Sendable {
    /// The model of each family that new requests get: the live release, or the one that came with the app.
    public internal(set) var models: [Family: ModelAvailability] = [:]
    /// The families whose live release cannot be used as it is, and why.
    public internal(set) var problems: [Family: any Error] = [:]
    /// Why nothing could be found out, such as a home folder of a newer version; `nil` if all went well.
    public internal(set) var failure: (any Error)?
}
