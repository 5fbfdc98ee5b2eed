import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore

/// Counts the deaths of workers by release and request. A release on probation whose worker dies while it loads, or
/// under different requests, is replaced by the one before; for a proven release nothing follows.
final class ReleaseDeaths: Sendable {
    /// What a worker was asked when it died. The same request counts once.
    enum Request: Sendable, Hashable {
        case load
        case prompt([ChatMessage])
        case texts([String])
    }

    /// The number of different requests that refute a release.
    static let requestsAllowed = 3

    private let requests = Locked<[ReleaseIdentity: Set<Int>]>([:])

    /// Counts a death.
    func died(_ release: ReleaseIdentity, _ request: Request, _ manager: ModelManager) async {
        // A hash is enough to tell requests apart, and keeps nothing that anyone said.
        let count = requests.withLock { requests in
            requests[release, default: []].insert(request.hashValue)
            return requests[release]?.count ?? 0
        }
        guard request == .load || count >= Self.requestsAllowed else { return }
        do {
            let reason =
                request == .load
                ? "its engine ended while it was loaded" : "its engine ended under \(count) different requests"
            if try await manager.refute(release, reason: reason) != nil {
                requests.withLock { $0[release] = nil }
            }
        } catch {
            Log.write(.warning, "activation", "\(release) is not rolled back: \(error)")
        }
    }
}
