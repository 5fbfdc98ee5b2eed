import Foundation
import Testing

@testable import HearthHTTP

struct ProxySettingTests {
    @Test(
        arguments: [
            (["https_proxy": "http://p.example:3128"], "p.example:3128"),
            (["HTTPS_PROXY": "p.example"], "p.example:1080"),
            (["https_proxy": "", "all_proxy": "http://q.example:1"], nil), (["http_proxy": "http://p.example:1"], nil),
            (["ALL_PROXY": "socks5h://u:p@q.example:9050"], "q.example:9050"),
            (["all_proxy": "http://[::1]:9"], "[::1]:9"),
            (["https_proxy": "http://p.example:1", "no_proxy": "*"], nil),
            (["https_proxy": "http://p.example:1", "NO_PROXY": "a.example, models.example"], nil),
            (["https_proxy": "http://p.example:1", "no_proxy": ".example"], nil),
            (["https_proxy": "http://p.example:1", "no_proxy": "dels.example,xample"], "p.example:1"),
            (["https_proxy": "http://p.example:1", "no_proxy": ""], "p.example:1"), ([:], nil),
            (["https_proxy": "http://\n"], "of https_proxy"),
        ] as [([String: String], String?)])
    func theEnvironmentNamesIt(_ environment: [String: String], _ place: String?) throws {
        let url = try #require(URL(string: "https://models.example/m.gguf"))
        #expect(ProxySetting(for: try HTTPAddress(url), in: environment)?.place == place)
    }
}
