#if canImport(Darwin)
import Foundation
import HearthBase
import HearthDelivery
import HearthTransfer

extension BackgroundDownloads {
    /// The identifier of the app's session.
    public static let identifier = "hearth.downloads"

    /// Connects with the system's downloads for the home of a manager.
    /// - Parameters:
    ///   - identifier: always the same in an app, and used by one process at a time.
    ///   - metered: `MeteredUse.allow` also downloads over cellular networks and in Low Data Mode; otherwise the system
    ///     waits for Wi-Fi.
    ///   - container: the identifier of the container that the app shares with an extension, if the home lies there.
    ///   - provider: that of the manager, for files whose addresses expire; ask for addresses that work for hours.
    ///   - headers: further fields for requests to an address, such as a token; the system keeps them with its tasks.
    public init(
        _ manager: ModelManager, identifier: String = BackgroundDownloads.identifier, metered: MeteredUse = .deny,
        container: String? = nil, provider: (any DownloadURLProvider)? = nil,
        headers: @escaping @Sendable (URL) -> [String: String] = { _ in [:] }
    ) {
        self.init(manager, identifier: identifier, provider: provider, headers: headers) { landing, report in
            SystemSession(
                identifier: identifier, allowsMetered: metered == .allow, container: container, landing: landing,
                report: report)
        }
    }
}
#endif
