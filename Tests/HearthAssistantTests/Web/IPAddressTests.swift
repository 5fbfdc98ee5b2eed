import Testing

@testable import HearthAssistant

@Suite struct IPAddressTests {
    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1", "169.253.0.1", "192.167.1.1",
        "223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001:82a::200e",
    ])
    func hostsOfThePublicInternetMayBeRead(_ text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic)
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.3",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1",
        "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1",
        "255.255.255.255",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b::808:808",
        "64:ff9b:1::1", "100::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd12:3456::1", "ff02::1", "2001::1",
        "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "4000::1", "5f00::1",
    ])
    func allOthersMayNot(_ text: String) throws {
        #expect(try !#require(IPAddress(text)).isPublic)
    }

    @Test(arguments: ["localhost", "127.1", "0x7f.0.0.1", "2130706433", "[::1]", "1.2.3.4.5", "", "fe80::1%eth0"])
    func namesAreNoAddresses(_ text: String) { #expect(IPAddress(text) == nil) }

    @Test func thisMachineIsResolved() throws {
        #expect(try IPAddress.resolve("localhost").allSatisfy { !$0.isPublic })
        #expect(try IPAddress.resolve("127.1").map(\.description) == ["127.0.0.1"])
        #expect(try IPAddress.resolve("::1").map(\.description) == ["::1"])
    }
}
