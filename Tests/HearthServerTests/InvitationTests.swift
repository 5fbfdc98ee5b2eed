import Foundation
import HearthBase
import Testing

@testable import HearthServer

/// The address, the code and the picture by which another device opens the page.
struct InvitationTests {
    typealias Entry = NetworkAddresses.Entry

    @Test(
        arguments: [
            // One network.
            (["192.168.1.5"], [("lo", "127.0.0.1"), ("eth0", "192.168.1.5"), ("lo", "::1")], "192.168.1.5", []),
            // The default route comes first, whatever the order of the interfaces.
            (
                ["192.168.1.5"], [("eth1", "10.0.0.7"), ("wlan0", "192.168.1.5"), ("eth2", "10.1.0.7")], "192.168.1.5",
                ["10.0.0.7", "10.1.0.7"]
            ),
            // Containers of this machine lead nowhere, unless its default route does.
            (["10.0.0.7"], [("docker0", "172.17.0.1"), ("eth0", "10.0.0.7"), ("veth1", "172.18.0.1")], "10.0.0.7", []),
            (["172.17.0.2"], [("veth0", "172.17.0.2")], "172.17.0.2", []),
            // No route: a network without a way out.
            ([], [("lo", "127.0.0.1"), ("eth0", "192.168.1.5")], "192.168.1.5", []),
            // IPv4 before IPv6, and IPv6 alone.
            (
                ["192.168.1.5", "2001:db8::5"], [("eth0", "2001:db8::5"), ("eth0", "192.168.1.5")], "192.168.1.5", []
            ),
            (
                ["2001:db8::5"], [("eth0", "fe80::1%eth0"), ("eth0", "2001:db8::5"), ("eth0", "fd00::5")],
                "2001:db8::5",
                ["fd00::5"]
            ),
            // No network.
            ([], [("lo", "127.0.0.1"), ("lo", "::1"), ("eth0", "169.254.3.4"), ("eth0", "fe80::1")], nil, []),
            ([], [], nil, []),
        ] as [([String], [(String, String)], String?, [String])])
    func choosesTheAddress(routes: [String], entries: [(String, String)], first: String?, others: [String]) {
        let found = NetworkAddresses(routes: routes, entries: entries.map { Entry($0.0, $0.1) })
        #expect(found.first == first)
        #expect(found.others == others)
    }

    @Test func looksAtTheInterfacesOfThisMachine() {
        let found = NetworkAddresses.current()
        #expect(found.first.map { !$0.hasPrefix("127.") } ?? true)
    }

    private let network = NetworkAddresses(
        routes: ["192.168.1.5"], entries: [Entry("eth0", "192.168.1.5"), Entry("eth1", "10.0.0.7")])

    private func place(_ hosts: [String], usesTLS: Bool = false, names: [String] = []) -> NetworkPlace? {
        NetworkPlace(hosts.map { ListeningAddress(host: $0, port: 4327) }, usesTLS: usesTLS, names: names)
    }

    @Test func invitesWhereOtherMachinesReachTheServer() throws {
        #expect(place(["127.0.0.1", "::1"]) == nil)
        #expect(place([]) == nil)
        let all = try #require(place(["0.0.0.0", "::"])).invitation("7KQM-4T2X", network)
        #expect(all.url == "http://192.168.1.5:4327/hearth/open?code=7KQM-4T2X")
        #expect(all.others == ["http://10.0.0.7:4327"] && all.hasNetwork && !all.isEncrypted && !all.isIPv6Only)
        let one = try #require(place(["127.0.0.1", "10.0.0.7"])).invitation("7KQM-4T2X", network)
        #expect(one.address == "http://10.0.0.7:4327" && one.others.isEmpty)
        // A certificate is for a name.
        let named = try #require(place(["0.0.0.0"], usesTLS: true, names: ["box.example"])).invitation("X", network)
        #expect(named.address == "https://box.example:4327" && named.isEncrypted && named.others.isEmpty)
        let plain = try #require(place(["0.0.0.0"], names: ["box.example"])).invitation("X", network)
        #expect(plain.address == "http://192.168.1.5:4327")
        let none = try #require(place(["0.0.0.0"])).invitation("X", NetworkAddresses(routes: [], entries: []))
        #expect(!none.hasNetwork && none.address == "http://127.0.0.1:4327")
        let six = NetworkAddresses(routes: [], entries: [Entry("eth0", "2001:db8::5")])
        let only = try #require(place(["0.0.0.0", "::"])).invitation("X", six)
        #expect(only.isIPv6Only && only.address == "http://[2001:db8::5]:4327")
    }

    @Test func drawsACodeOfSquares() throws {
        let code = try #require(QRCode("http://192.168.178.123:4327/hearth/open?code=7KQM-4T2X"))
        #expect(code.size == 33)
        #expect(code.rows.allSatisfy { $0.count == code.size })
        // The three corners: a dark frame of 7, a light one, a dark square of 3.
        for (x, y) in [(0, 0), (code.size - 7, 0), (0, code.size - 7)] {
            let corner = (0..<7).map { row in (0..<7).map { code.rows[y + row][x + $0] } }
            for row in 0..<7 {
                for column in 0..<7 {
                    let ring = max(abs(row - 3), abs(column - 3))
                    #expect(corner[row][column] == (ring != 2), "\(x) \(y) \(row) \(column)")
                }
            }
        }
        #expect(QRCode(String(repeating: "x", count: 2954)) == nil)
        #expect(QRCode(String(repeating: "x", count: 2900)) != nil)
    }

    @Test func halfBlocksHoldEverySquareAndAMargin() throws {
        let code = try #require(QRCode("http://10.0.0.7:4327/hearth/open?code=7KQM-4T2X"))
        for hasColor in [true, false] {
            let lines = code.halfBlocks(hasColor: hasColor).map { line in
                line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
            }
            #expect(lines.count == (code.size + 5) / 2)
            #expect(lines.allSatisfy { $0.count == code.size + 4 })
            var squares: [[Bool]] = []
            for line in lines {
                squares.append(line.map { "█▀".contains($0) == hasColor })
                squares.append(line.map { "█▄".contains($0) == hasColor })
            }
            let isLightAround = squares.prefix(2).joined().allSatisfy { !$0 } && squares.allSatisfy { !$0[0] && !$0[1] }
            #expect(isLightAround)
            let inner = squares.dropFirst(2).prefix(code.size).map { Array($0.dropFirst(2).prefix(code.size)) }
            #expect(inner == code.rows)
        }
    }
}
