import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthHTTP

@Suite struct NetworkPolicyTests {
    private static func urls(_ texts: [String]) throws -> [URL] { try texts.map { try #require(URL(string: $0)) } }

    private static let far = ["https://models.example.org/m.gguf"]
    private static let near = ["http://127.0.0.1:8080/m.gguf"]

    @Test(
        arguments: [
            (.allow, .unrestricted, nil), (.ask, .unrestricted, nil), (.deny, .unrestricted, nil),
            (.allow, .metered, nil), (.ask, .metered, .metered), (.deny, .metered, .metered),
            (.allow, .offline, .offline), (.ask, .offline, .offline), (.deny, .offline, .offline),
            // Who is offline has more to wait for than who is on a metered network.
            (.deny, NetworkCondition(isOnline: false, isMetered: true), .offline),
        ] as [(MeteredUse, NetworkCondition, NetworkHold?)])
    func holdsWhatItShould(metered: MeteredUse, condition: NetworkCondition, hold: NetworkHold?) throws {
        let policy = NetworkPolicy(metered: metered)
        #expect(policy.hold(for: try Self.urls(Self.far), in: condition) == hold)
        #expect(policy.hold(for: try Self.urls(Self.near), in: condition) == nil)
        #expect(policy.hold(for: [], in: condition) == nil, "without an address no network is used")
        // One of a mixed list may be asked, so all of it is held; the exempt ones alone are free.
        let mixed = try Self.urls(Self.near + Self.far)
        #expect(policy.hold(for: mixed, in: condition) == hold)
        #expect(policy.hold(for: policy.exempt(mixed), in: condition) == nil)
        #expect(policy.exempt(mixed) == (try Self.urls(Self.near)))
    }

    @Test func meteredNetworksAreLeftAloneUnlessToldOtherwise() {
        #expect(NetworkPolicy().metered == .deny)
    }

    @Test(arguments: [
        "file:///srv/m.gguf", "FILE:///srv/m.gguf", "http://localhost/m", "https://LOCALHOST:8443/m",
        "http://127.0.0.1/m",
        "https://127.255.0.9/m", "http://[::1]:1/m", "unix:/run/hearth.sock", "http+unix://%2Frun%2Fhearth.sock/m",
    ])
    func thisMachineIsExempt(address: String) throws {
        #expect(!NetworkPolicy().concerns(try Self.urls([address])))
    }

    @Test(arguments: [
        "https://models.example.org/m", "https://127.0.0.1.example.org/m", "https://localhost.example.org/m",
        "https://localhost@example.org/m", "https://127.0.0.1:80@example.org/m", "https://128.0.0.1/m",
        "https://127.0.0.256/m", "https://127.1/m", "https://2130706433/m", "https://0x7f.0.0.1/m", "https://[::2]/m",
        "https://example.org/127.0.0.1", "https://example.org/#localhost", "file://fileserver/m", "https:localhost",
        "localhost",
    ])
    func whatOnlyLooksLikeItIsNot(address: String) throws {
        #expect(NetworkPolicy().concerns(try Self.urls([address])))
    }

    @Test func refusalsSayWhenToTryAgain() {
        for (hold, code) in [
            (NetworkHold.metered, "metered-network"), (.offline, "offline"),
        ] {
            #expect(hold.failure.codeText == code)
            #expect(hold.failure.disposition == .tryLater)
        }
        #expect(NetworkHold.metered.failure.message.contains("Wi-Fi required"))
    }
}

@Suite struct NetworkReadingTests {
    @Test(
        arguments: [
            // Who only sees routes knows of no network that could not work: a container, a proxy.
            (nil, false, false, false, .unrestricted), (nil, true, true, true, .unrestricted),
            ("NetworkManager", true, false, true, .unrestricted), ("NetworkManager", true, true, true, .metered),
            ("NetworkManager", true, true, false, .metered), ("NetworkManager", false, false, false, .offline),
            // A network that NetworkManager does not manage.
            ("NetworkManager", false, false, true, .unrestricted),
            ("portal", true, true, false, .metered), ("portal", false, false, false, .offline),
            ("portal", false, true, true, .metered),
        ] as [(String?, Bool, Bool, Bool, NetworkCondition)])
    func aReadingIsBelievedAsFarAsItsSourceKnows(
        source: String?, isAvailable: Bool, isMetered: Bool, hasRoute: Bool, condition: NetworkCondition
    ) {
        let reading = NetworkReading(source: source, isAvailable: isAvailable, isMetered: isMetered)
        #expect(reading.condition { hasRoute } == condition)
    }

    @Test(
        arguments: [
            ("GNetworkMonitorNM", "NetworkManager"), ("GNetworkMonitorPortal", "portal"),
            ("GNetworkMonitorNetlink", nil),
            ("GNetworkMonitorBase", nil), ("", nil), ("SomebodyElses", nil),
        ] as [(String, String?)])
    func sourcesAreKnownByTheirTypes(name: String, source: String?) {
        #expect(NetworkReading.source(typeName: name) == source)
    }

    private static let heading = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    private static let zeros = String(repeating: "0", count: 32)

    @Test(arguments: [
        ("eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0  \n", true),
        ("eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", false),
        ("tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0\n", false),  // half of everywhere
        ("eth0\t00000000\t010200C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n", false),  // down
        ("*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0\n", false),  // unreachable
        ("eth0\t00000000\t010200C0\t0003\t0\t0\n", false), ("eth0\t00000000\t0\tflags\t0\t0\t0\t00000000\n", false),
        ("eth0\t00000000\t0\t-1\t0\t0\t0\t00000000\n", false), ("\n\t\t\n", false), ("", false),
    ])
    func readsVersion4(line: String, hasDefault: Bool) {
        #expect(RoutingTable.hasDefaultRoute(version4: Self.heading + line, version6: "") == hasDefault)
    }

    @Test(arguments: [
        (
            "\(zeros) 00 \(zeros) 00 fd000000000000000000000000000001 00000400 00000002 00000000 00000003     eth0\n",
            true
        ),
        ("\(zeros) 00 \(zeros) 00 \(zeros) ffffffff 00000001 00000000 00200200       lo\n", false),
        ("\(zeros) 00 \(zeros) 00 \(zeros) 00000400 00000001 00000000 00000201     eth0\n", false),
        (
            "fe800000000000000000000000000000 40 \(zeros) 00 \(zeros) 00000100 00000002 00000000 00000001     eth0\n",
            false
        ),
        ("\(zeros) 01 \(zeros) 00 \(zeros) 00000100 00000002 00000000 00000001     eth0\n", false),
        ("\(zeros) 00 \(zeros)\n", false), (" 00\n", false), (String(repeating: "0 ", count: 100_000), false),
    ])
    func readsVersion6(line: String, hasDefault: Bool) {
        #expect(RoutingTable.hasDefaultRoute(version4: "", version6: line) == hasDefault)
    }
}
