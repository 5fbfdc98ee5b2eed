import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer

// What an app waits for at its start before its engine opens the model: `loadStored` on a home, as an app makes its manager.
// Prints one line of JSON; scripts/bench/store.py runs it in a network of its own that leads nowhere.
//   HearthStoreBench HOME

/// Refuses every request, and with it the figure: a start must not need any.
struct NoNetwork: HTTPClient {
    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        fatalError("a start asked for \(request.url)")
    }
}

guard CommandLine.arguments.count == 2 else { fatalError("usage: HearthStoreBench HOME") }
let home = Path(CommandLine.arguments[1])
let clock = ContinuousClock()
let start = clock.now
let manager = try ModelManager(home: home, configuration: Configuration.load(home: home), http: NoNetwork())
let stored = await manager.loadStored()
let elapsed = start.duration(to: clock.now)
let live = stored.models.values.count { if case .downloaded = $0 { true } else { false } }
precondition(stored.failure == nil && stored.problems.isEmpty, "the home cannot be read")
let milliseconds = Double(elapsed.components.seconds) * 1e3 + Double(elapsed.components.attoseconds) * 1e-15
print(#"{"ms": \#(milliseconds), "live": \#(live)}"#)
