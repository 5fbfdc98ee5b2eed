import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// `hearth route --watch` beside commands that change settings.
@Suite struct RouteWatchTests {
    @Test func aWatchPrintsChanges() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let lines = AsyncStream<String>.makeStream()
        let output = CaptureSink { lines.continuation.yield($0) }
        let interruptions = Interruptions.timeless
        let probe = CommandProbe(
            home: folder.path("home"), output: output, interruptions: interruptions, time: clock.time)
        let watching = Task { await probe.run("route", "--watch") }
        var printed = lines.stream.makeAsyncIterator()
        #expect(await printed.next() == "local: no cloud is set up\n")
        let setting = CommandProbe(home: folder.path("home"))
        #expect(await setting.run("config", "set", "routing.forceLocal", "true") == 0)
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(2))
        #expect(await printed.next() == "local: the setting forceLocal is on\n")
        interruptions.deliver(.interrupt)
        #expect(await watching.value == 130)
    }
}
