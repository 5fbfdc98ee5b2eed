import Foundation
import HearthBase

/// What to do about a network whose bytes cost money.
public enum MeteredUse: String, Sendable, Hashable, Codable, CaseIterable {
    /// Fetch all the same.
    case allow
    /// Ask the person first. A library call that cannot ask refuses, as ``deny``.
    case ask
    /// Wait for another network.
    case deny
}

/// Which downloads may use the network, in which condition of it.
///
/// Addresses of this machine and files are exempt: they use no network.
public struct NetworkPolicy: Sendable, Hashable {
    /// What to do about a metered network.
    public var metered: MeteredUse

    /// A policy; unless told otherwise, metered networks are left alone.
    public init(metered: MeteredUse = .deny) { self.metered = metered }

    /// What keeps a download from those addresses waiting; `nil` when nothing does.
    ///
    /// A list in which one address is not exempt is held as a whole, because whoever is given it may ask any of them. A caller
    /// that can do with the exempt ones alone goes on with ``exempt(_:)``, as ``NetworkGate/admitted(_:)`` does.
    public func hold(for locations: [URL], in condition: NetworkCondition) -> DownloadHold? {
        guard concerns(locations) else { return nil }
        guard condition.isOnline else { return .offline }
        return condition.isMetered && metered != .allow ? .metered : nil
    }

    /// Whether one of the addresses is subject to the policy.
    public func concerns(_ locations: [URL]) -> Bool { !locations.allSatisfy(Self.isExempt) }

    /// Those of the addresses that use no network, in their order.
    public func exempt(_ locations: [URL]) -> [URL] { locations.filter(Self.isExempt) }

    /// Whether an address leads nowhere but to this machine: a file, a Unix socket, `localhost`, `127.0.0.0/8`, `::1`. A redirect
    /// from there to elsewhere is followed all the same.
    private static func isExempt(_ location: URL) -> Bool {
        switch location.scheme?.lowercased() {
        case "file": (location.host ?? "").isEmpty
        case "unix", "http+unix": true
        default: location.isLoopback
        }
    }
}

extension DownloadHold {
    /// What a download waits for, in a word or two.
    public var heading: String {
        switch self {
        case .offline: "No network"
        case .metered: "Wi-Fi required"
        case .paused: "Paused"
        }
    }

    /// What an app shows while a download waits: one sentence without a full stop, that begins with the ``heading``.
    public var message: String {
        switch self {
        case .offline: "\(heading): the download goes on by itself when there is one"
        case .metered: "\(heading): this network is metered; the download goes on by itself on another"
        case .paused: "\(heading): it goes on when it is resumed"
        }
    }

    /// The failure of a download that will not wait.
    var failure: any HearthFailure {
        switch self {
        case .offline:
            DeliveryError(
                .offline, "there is no network",
                context: ErrorContext(remedy: "Try again when there is; what was received is kept."),
                disposition: .tryLater)
        case .metered:
            DeliveryError(
                .meteredNetwork, "Wi-Fi required: this network is metered",
                context: ErrorContext(
                    remedy: "Try again on another network, or allow this one with --metered allow."),
                disposition: .tryLater)
        case .paused:
            TransferError(.busy, message, disposition: .tryLater)
        }
    }
}
