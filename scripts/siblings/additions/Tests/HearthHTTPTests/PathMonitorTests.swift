import Foundation
import HearthBase
import Network
import Testing

@testable import HearthHTTP

/// The path of the stand-in, which is one for the process.
@Suite(.serialized) struct PathMonitorTests {
    @Test(arguments: [
        (NWPath(.satisfied), NetworkCondition(isOnline: true, isMetered: false)),
        (NWPath(.unsatisfied), NetworkCondition(isOnline: false, isMetered: false)),
        (NWPath(.requiresConnection), NetworkCondition(isOnline: true, isMetered: false)),
        (NWPath(.satisfied, isExpensive: true), NetworkCondition(isOnline: true, isMetered: true)),
        (NWPath(.satisfied, isConstrained: true), NetworkCondition(isOnline: true, isMetered: true)),
        (NWPath(.unsatisfied, isExpensive: true), NetworkCondition(isOnline: false, isMetered: true)),
    ])
    func aPathBecomesACondition(_ path: NWPath, _ condition: NetworkCondition) async {
        let monitor = PathNetworkMonitor()
        // Before the first reading, downloads have to wait.
        #expect(monitor.condition == NetworkCondition(isOnline: true, isMetered: true))
        NWPathMonitor.announce(path)
        #expect(monitor.condition == condition)
        #expect(await monitor.reading() == condition)
        #expect(monitor.source == "NWPathMonitor")
    }

    @Test func eachChangeArrives() async {
        let monitor = PathNetworkMonitor()
        NWPathMonitor.announce(NWPath(.satisfied))
        var conditions = monitor.conditions().makeAsyncIterator()
        #expect(await conditions.next() == .unrestricted)
        NWPathMonitor.announce(NWPath(.unsatisfied))
        #expect(await conditions.next() == NetworkCondition(isOnline: false, isMetered: false))
    }

    @Test func aReleasedMonitorListensNoMore() {
        let before = NWPathMonitor.announce(NWPath(.satisfied))
        var monitor: PathNetworkMonitor? = PathNetworkMonitor()
        #expect(NWPathMonitor.announce(NWPath(.satisfied)) == before + 1)
        #expect(monitor?.condition == .unrestricted)
        monitor = nil
        #expect(NWPathMonitor.announce(NWPath(.satisfied)) == before)
    }
}
