import HearthHTTP

/// The reason why a download waits.
public enum DownloadHold: String, Sendable, Hashable {
    /// There is no network.
    case offline
    /// The network is metered, and this download may use unmetered networks only.
    case metered
    /// The user paused it.
    case paused

    /// The hold of a download that waits for the network.
    package init(_ hold: NetworkHold) { self = hold == .offline ? .offline : .metered }

    /// A title of a word or two.
    public var heading: String {
        switch self {
        case .offline: "No network"
        case .metered: "Wi-Fi required"
        case .paused: "Paused"
        }
    }

    /// The sentence an app shows while a download waits, without a full stop; it begins with the ``heading``.
    public var message: String {
        switch self {
        case .offline: "\(heading): the download continues when there is one"
        case .metered: "\(heading): this network is metered; the download continues on another"
        case .paused: "\(heading): it continues when it is resumed"
        }
    }
}
