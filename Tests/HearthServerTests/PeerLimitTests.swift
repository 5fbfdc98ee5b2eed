import HearthBase
import HearthHTTP
import Testing

@testable import HearthServer

/// The connections of one peer.
@Suite(.timeLimit(.minutes(2)))
struct PeerLimitTests {
    private static let limits = {
        var limits = ListenerLimits()
        (limits.connectionsPerPeer, limits.connectionsWithoutKey) = (4, 2)
        return limits
    }()

    private func record(_ phase: ConnectionPhase? = nil, key: Bool = false) -> ConnectionRecord {
        let record = ConnectionRecord(socket: -1, peer: .network(host: "10.0.0.1"), at: .zero)
        if key { record.noteKey() }
        if let phase { record.enter(phase) }
        return record
    }

    private func surplus(_ records: [ConnectionRecord]) -> Int? {
        ConnectionTable.surplus(among: records, limits: Self.limits).flatMap { found in
            records.firstIndex { $0 === found }
        }
    }

    @Test func theOldestIdleOneLeavesFirst() {
        let body = ConnectionPhase.body(since: .zero, received: 0)
        #expect(surplus([record(), record()]) == nil)
        #expect(surplus([record(), record(), record()]) == 0)
        #expect(surplus([record(.replying), record(), record()]) == 1)
        #expect(surplus([record(body), record(.header(since: .zero)), record()]) == 1)
        #expect(surplus([record(.replying), record(body), record()]) == 1)
        // The new one may still show a key; the peer's own limit leaves no room for it.
        #expect(surplus([record(.replying), record(.replying), record()]) == nil)
        #expect(surplus((0..<4).map { _ in record(.replying) } + [record()]) == 4)
    }

    @Test func connectionsWithAKeyCountForThePeerAlone() {
        let keyed = (0..<4).map { _ in record(key: true) }
        #expect(surplus(keyed) == nil)
        #expect(surplus(Array(keyed.dropLast()) + [record()]) == nil)
        #expect(surplus(keyed + [record()]) == 0)
        #expect(surplus([record(), record(key: true), record(), record()]) == 0)
    }

    /// Connections without a key that are all served keep out further ones, not those with a key.
    @Test func aKeyHasRoomBesideTheOthers() async throws {
        let (begun, source) = AsyncStream<Void>.makeStream()
        let end = Signal()
        try await ServerFixture.with(
            limits: Self.limits,
            immediately: { request in
                if request.headers["Authorization"] != nil { request.caller = .owner }
                return nil
            },
            respond: { request in
                guard request.target.path == "/long" else { return .text(200, "here") }
                source.yield()
                await end.wait()
                return .text(200, "end")
            }
        ) { server in
            let held = try (0..<2).map { _ in
                let connection = try RawConnection(server.address)
                try connection.send("GET", "/long")
                return connection
            }
            var starts = begun.makeAsyncIterator()
            for _ in held { await starts.next() }
            #expect(try RawConnection.fetch(server.address, "/").status == 429)
            #expect(try RawConnection.fetch(server.address, "/", ["Authorization: Bearer k"]).status == 200)
            end.send()
            for connection in held { #expect(try connection.response().status == 200) }
            #expect(try RawConnection.fetch(server.address, "/").status == 200)
        }
    }

    @Test(
        arguments: [
            ("127.0.0.1", "127.9.9.9", true), ("127.0.0.1", "::1", true), ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false), ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true),
            ("2001:db8:1:2::1", "2001:db8:1:3::1", false), ("::ffff:10.0.0.1", "::ffff:10.0.0.2", false),
            ("127.0.0.1", "10.0.0.1", false), ("unknown", "10.0.0.1", false),
        ])
    func onePeerMayHaveManyAddresses(left: String, right: String, isSame: Bool) {
        #expect((ServerPeer.network(host: left).counted == ServerPeer.network(host: right).counted) == isSame)
    }

    @Test func anotherProgramOfTheSameAddressIsServed() async throws {
        try await ServerFixture.with(limits: Self.limits, respond: { _ in .text(200, "here") }) { server in
            func ask(_ connection: RawConnection) throws -> Int {
                try connection.send("GET", "/")
                return try connection.response().status
            }
            // Each has been served before the next one comes.
            let held = try (0..<8).map { _ in
                let connection = try RawConnection(server.address)
                #expect(try ask(connection) == 200)
                return connection
            }
            #expect(try RawConnection.fetch(server.address, "/").status == 200)
            for connection in held.prefix(7) { #expect(connection.receiveAll().isEmpty) }
            #expect(try ask(held[7]) == 200)
        }
    }
}
