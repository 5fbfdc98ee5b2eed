import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@Suite struct NetworkBoardTests {
    @Test func theFirstIsWhatStandsThere() async {
        let board = NetworkBoard(.metered)
        var changes = board.conditions().makeAsyncIterator()
        #expect(await changes.next() == .metered)
        board.post(.metered)
        board.post(.offline)
        #expect(await changes.next() == .offline, "the same again is no change")
        #expect(board.condition == .offline)
    }

    @Test func anEmptyBoardHasWatchersWait() async {
        let board = NetworkBoard()
        #expect(board.condition == nil)
        async let first = board.conditions().first { _ in true }
        while board.watcherCount == 0 { await Task.yield() }
        board.post(.offline)
        #expect(await first == .offline)
    }

    @Test func whoReadsSlowlyGetsTheNewest() async {
        let board = NetworkBoard(.unrestricted)
        var changes = board.conditions().makeAsyncIterator()
        for _ in 0..<1000 {
            board.post(.metered)
            board.post(.offline)
        }
        #expect(await changes.next() == .offline)
        board.close()
        #expect(await changes.next() == nil)
    }

    @Test func closingEndsEveryStreamOldAndNew() async {
        let board = NetworkBoard(.unrestricted)
        let old = board.conditions()
        board.close()
        board.post(.offline)
        for stream in [old, board.conditions()] {
            var found: [NetworkCondition] = []
            for await condition in stream { found.append(condition) }
            #expect(found == [.unrestricted])
        }
        #expect(board.watcherCount == 0)
    }

    @Test func whoStopsWatchingIsForgotten() async {
        let board = NetworkBoard(.unrestricted)
        for await _ in board.conditions() { break }
        #expect(board.watcherCount == 0)
        let task = Task { for await _ in board.conditions() {} }
        while board.watcherCount == 0 { await Task.yield() }
        task.cancel()
        await task.value
        #expect(board.watcherCount == 0)
    }

    @Test func aStreamKeepsItsOwner() async {
        final class Owner: Sendable {
            let gone: Locked<Bool>
            init(_ gone: Locked<Bool>) { self.gone = gone }
            deinit { gone.withLock { $0 = true } }
        }
        let gone = Locked(false)
        let board = NetworkBoard(.unrestricted)
        func watch() -> AsyncStream<NetworkCondition> { board.conditions(keeping: Owner(gone)) }
        var stream: AsyncStream<NetworkCondition>? = watch()
        #expect(!gone.withLock { $0 })
        withExtendedLifetime(stream) {}
        stream = nil
        #expect(gone.withLock { $0 })
    }

    @Test func anUnmonitoredNetworkIsWhatItIsTakenFor() async {
        #expect(UnmonitoredNetwork().condition == .unrestricted)
        #expect(UnmonitoredNetwork().source == nil)
        let stated = UnmonitoredNetwork(assuming: .metered, source: "somebody")
        var found: [NetworkCondition] = []
        for await condition in stated.conditions() { found.append(condition) }
        #expect(found == [.metered], "it never changes, so the stream ends")
        #expect(stated.source == "somebody")
    }
}
