import Foundation
import HearthBase
import HearthHTTP
import HearthTransfer

/// Provides numbered addresses, and counts the requests for them.
package final class CountingProvider: DownloadURLProvider {
    /// The kinds of responses.
    package enum Kind: Sendable, Hashable {
        case works
        /// The first request is answered; then `times` requests fail, as if the service did not respond.
        case fails(times: Int)
    }

    private struct State {
        var count = 0
        var failures: Int
    }

    private let state: Locked<State>

    package init(_ kind: Kind) {
        switch kind {
        case .works: state = Locked(State(failures: 0))
        case .fails(let times): state = Locked(State(failures: times))
        }
    }

    /// The number of requests.
    package var count: Int { state.withLock { $0.count } }

    package func heal() { state.withLock { $0.failures = 0 } }

    package func downloadURL(for location: URL) async throws -> URL {
        let number = state.withLock { state -> Int? in
            state.count += 1
            guard state.count > 1, state.failures > 0 else { return state.count }
            state.failures -= 1
            return nil
        }
        guard let number else { throw HTTPError(.cannotConnect, "the key service is away", disposition: .tryLater) }
        return location.appending(queryItems: [URLQueryItem(name: "token", value: "s3cret-\(number)")])
    }
}
