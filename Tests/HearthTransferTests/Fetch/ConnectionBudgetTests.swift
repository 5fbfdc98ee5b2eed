import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

@Suite(.timeLimit(.minutes(5))) struct ConnectionBudgetTests {
    /// Returns once so many requests wait for a connection.
    private func untilWaiting(_ count: Int, for budget: ConnectionBudget) async {
        while budget.waiting < count { await Task.yield() }
    }

    @Test func oneTransferMayHaveAllConnections() async throws {
        let share = ConnectionBudget.Share(of: ConnectionBudget(limit: 3))
        var held: [ConnectionBudget.Connection] = []
        for _ in 0..<3 { held.append(try #require(await share.take { Issue.record("one is free") })) }
        #expect(held.count == 3)
    }

    @Test func aTransferWithoutAConnectionGetsTheNext() async throws {
        let budget = ConnectionBudget(limit: 2)
        let (large, small) = (ConnectionBudget.Share(of: budget), ConnectionBudget.Share(of: budget))
        let first = try #require(await large.take())
        let second = try #require(await large.take())
        let order = Locked<[String]>([])
        async let third: Void = {
            let connection = await large.take()
            order.withLock { $0.append("large") }
            connection?.release()
        }()
        await untilWaiting(1, for: budget)
        async let other: Void = {
            let connection = await small.take()
            order.withLock { $0.append("small") }
            connection?.release()
        }()
        await untilWaiting(2, for: budget)
        first.release()
        first.release()
        await other
        #expect(order.withLock { $0.first } == "small")
        second.release()
        await third
        #expect(order.withLock { $0 } == ["small", "large"])
    }

    @Test func aCancelledWaitTakesNothing() async throws {
        let budget = ConnectionBudget(limit: 1)
        let share = ConnectionBudget.Share(of: budget)
        let only = try #require(await share.take())
        let task = Task { await share.take() == nil }
        await untilWaiting(1, for: budget)
        task.cancel()
        #expect(await task.value)
        only.release()
        #expect(await share.take { Issue.record("it is free") } != nil)
    }
}
