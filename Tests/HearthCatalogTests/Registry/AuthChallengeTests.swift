import Foundation
import HearthBase
import HearthHTTP
import Testing

@testable import HearthCatalog

@Suite struct AuthChallengeTests {
    private func challenge(_ values: [String], from address: String = "https://r.example/v2/a/blobs/x") throws
        -> AuthChallenge?
    {
        var headers = HTTPHeaders()
        for value in values { headers.append("WWW-Authenticate", value) }
        let url = try #require(URL(address: address))
        return AuthChallenge(HTTPResponse(status: 401, headers: headers, url: url, body: HTTPBody([])))
    }

    @Test func readsTokensAndPasswords() throws {
        let realm = try #require(URL(address: "https://auth.example/token"))
        let usual = #"Bearer realm="https://auth.example/token",service="r.example",scope="repository:a:pull,push""#
        #expect(
            try challenge([usual])
                == .bearer(realm: realm, service: "r.example", scope: "repository:a:pull,push"))
        #expect(
            try challenge([#"bearer Realm = "https://auth.example/token""#])
                == .bearer(realm: realm, service: nil, scope: nil))
        #expect(try challenge([#"Basic realm="a, b""#]) == .basic)
        #expect(
            try challenge([#"Basic realm="x", Bearer realm="https://auth.example/token",service="a\"b""#])
                == .bearer(realm: realm, service: "a\"b", scope: nil))
        #expect(try challenge([#"Negotiate"#, "Basic"]) == .basic)
        #expect(try challenge(["Basic", usual]) != .basic)
    }

    @Test(
        arguments: [
            "", "Digest realm=\"x\"", "Bearer", "Bearer realm=\"\"", "Bearer realm=\"file:///etc/passwd\"",
            "Bearer realm=\"http://auth.example/token\"", "Bearer realm=\"http://127.0.0.1/token\"",
            "Bearer realm=\"https://user:secret@auth.example/\"", "Bearer realm=\"https://auth.example/a\nb\"",
            "=,=,,\"", "Bearer realm",
        ])
    func aChallengeThatNamesNoSafePlaceIsNone(_ value: String) throws {
        #expect(try challenge([value]) == nil)
    }

    @Test func onlyARegistryOfThisMachineHasATokenServerWithoutEncryption() throws {
        let header = #"Bearer realm="http://127.0.0.1:1/token""#
        #expect(try challenge([header], from: "http://127.0.0.1:5000/v2/a/blobs/x") != nil)
    }
}
