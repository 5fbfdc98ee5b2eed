import Foundation
import Testing

@testable import HearthCommand

/// A link never hides the host that it leads to behind words that look like another one.
@Suite struct LinkAddressTests {
    private static let misleading: [(words: String, address: String, host: String)] = [
        ("https:///accounts.google.com", "https://evil.test/accounts.google.com", "evil.test"),
        ("/accounts.google.com", "https://evil.test/accounts.google.com", "evil.test"),
        ("https://google.com@evil.test", "https://google.com@evil.test", "evil.test"),
        ("google.com", "https://google.com:443@evil.test/google.com", "evil.test"),
        ("https://google.com", "https:/\\evil.test/google.com", "evil.test"),
        ("https://google.com", "https:\\\\evil.test\\google.com", "evil.test"),
        ("https://google.com", "https:evil.test", "evil.test"),
        ("https://аpple.com", "https://аpple.com", "xn--pple-43d.com"),
        ("google.com", "https://evil。test/", "evil.test"), ("google。com", "https://evil.test/", "evil.test"),
        ("google․com", "https://evil.test/", "evil.test"),
        ("google\u{200B}.\u{2060}com", "https://evil.test/", "evil.test"),
        ("Sign in at accounts.google.com now", "https://evil.test/", "evil.test"),
        ("@bank", "https://evil.test/", "evil.test"),
        ("www.bank", "https://evil.test/", "evil.test"), ("https:⁄⁄bank", "https://evil.test/", "evil.test"),
        ("ｇｏｏｇｌｅ．ｃｏｍ", "https://evil.test/", "evil.test"), ("127.0.0.1", "https://evil.test/", "evil.test"),
        ("localhost", "http://evil.test/", "evil.test"), ("HTTPS://GOOGLE.COM", "https://evil.test", "evil.test"),
        ("https://google.com", "https://GOOGLE.com@evil.test#google.com", "evil.test"),
        ("https://google.com", "https://evil.test?google.com", "evil.test"),
    ]

    @Test(arguments: misleading.indices, [true, false]) func theHostIsShown(_ index: Int, _ links: Bool) {
        let (words, address, host) = Self.misleading[index]
        #expect(LinkAddress.host(of: address) == host)
        let line = MarkdownText.painted(
            "[\(words)](<\(address.replacing("\\", with: "\\\\"))>)", width: 200, links: links
        ).joined()
        let after = line.range(of: " (", options: .backwards).map { line[$0.upperBound...] } ?? ""
        #expect(
            after.hasPrefix(host) || after.hasPrefix("https://\(host)") || after.hasPrefix("http://\(host)"), "\(line)")
    }

    @Test(arguments: [
        ("https://example.org/a", "https://example.org/a"), ("example.org", "https://example.org/"),
        ("me@example.org", "mailto:me@example.org"),
    ])
    func anAddressThatIsShownIsNotShownTwice(_ words: String, _ address: String) {
        #expect(LinkAddress.isNamed(address, by: words))
        #expect(MarkdownText.painted("[\(words)](\(address))", links: true) == [words])
    }

    @Test(arguments: [
        "https://evil.test%2fgoogle.com/", "https://", "https:///", "javascript:alert(1)", "https://a b/",
        "https://[::1/",
        "https://%00/", "//evil.test", "mailto:a@b.test",
    ])
    func whatNoBrowserOpensHasNoHost(_ address: String) { #expect(LinkAddress.host(of: address) == nil) }

    @Test func furtherReceiversAreShown() {
        #expect(!LinkAddress.isNamed("mailto:help@bank.test?bcc=me@evil.test", by: "help@bank.test"))
        #expect(!LinkAddress.isNamed("mailto:help@bank.test,me@evil.test", by: "help@bank.test"))
    }
}
