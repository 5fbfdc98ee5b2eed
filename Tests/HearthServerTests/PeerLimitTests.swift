import HearthBase
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
        #expect(surplus([record(.replying), record(.replying), record()]) == 2)
    }

    @Test func connectionsWithAKeyCountForThePeerAlone() {
        let keyed = (0..<4).map { _ in record(key: true) }
        #expect(surplus(keyed) == nil)
        #expect(surplus(Array(keyed.dropLast()) + [record()]) == nil)
        #expect(surplus(keyed + [record()]) == 0)
        #expect(surplus([record(), record(key: true), record(), record()]) == 0)
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
