import Foundation
import HearthBase
import Testing

@testable import HearthHTTP

/// Requests that `scripts/publish/sigv4.py` has signed with botocore.
struct SigV4Tests {
    struct Case: Decodable, Sendable {
        let method: String
        let url: String
        let headers: [[String]]
        let body: String
        let accessKey: String
        let secretKey: String
        let token: String?
        let region: String
        let time: Int
        let expires: Int
        let authorization: String
        let presigned: String
    }

    /// The folder `scripts` of the sources, which these are a link to in some builds.
    private static let scripts = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("scripts")

    private static func signer(_ made: Case) throws -> SigV4 {
        SigV4(
            accessKey: made.accessKey, secretKey: try #require(Secret(made.secretKey)),
            sessionToken: made.token.flatMap { Secret($0) }, region: made.region)
    }

    /// The items of a query in any order.
    private static func items(_ text: String) -> [String] {
        text.split(separator: "?", maxSplits: 1).dropFirst().first.map { $0.split(separator: "&").map(String.init) }?
            .map { $0.contains("=") ? $0 : $0 + "=" }.sorted() ?? []
    }

    @Test func agreesWithBotocore() throws {
        let named = ProcessInfo.processInfo.environment["HEARTH_SIGV4"].map { URL(fileURLWithPath: $0) }
        let file = named ?? Self.scripts.appendingPathComponent("publish/sigv4.json")
        let all = try JSONDecoder().decode([Case].self, from: Data(contentsOf: file))
        #expect(all.count >= 40)
        for (number, made) in all.enumerated() {
            let url = try #require(URL(string: made.url, encodingInvalidCharacters: false))
            let date = Date(timeIntervalSince1970: Double(made.time))
            var request = HTTPRequest(url, method: made.method, body: Data(made.body.utf8))
            for header in made.headers { request.headers.append(header[0], header[1]) }
            let signer = try Self.signer(made)
            let hash = SHA256Digest(hashing: Data(made.body.utf8))
            let signed = try signer.authorize(request, payloadHash: hash, at: date)
            #expect(signed.authorization == made.authorization, "\(number): \(made.method) \(made.url)")
            let address = try signer.presign(url: url, method: made.method, expires: made.expires, at: date)
            #expect(Self.items(address.absoluteString) == Self.items(made.presigned), "\(number): \(made.url)")
        }
        if named != nil { print("\(all.count) of \(all.count) signatures equal to botocore's") }
    }

    @Test func neverSaysTheSecret() throws {
        let signer = SigV4(
            accessKey: "AKIDEXAMPLE", secretKey: try #require(Secret("verysecret")),
            sessionToken: Secret("alsosecret"), region: "auto")
        let text = "\(signer) \(String(reflecting: signer))"
        #expect(!text.contains("verysecret") && !text.contains("alsosecret"))
    }

    @Test(arguments: [(-5, "1"), (0, "1"), (3600, "3600"), (.max, "604800")])
    func anAddressLivesASecondToAWeek(_ seconds: Int, _ expected: String) throws {
        let signer = SigV4(accessKey: "A", secretKey: try #require(Secret("s")), region: "auto")
        let url = try #require(URL(string: "https://bucket.example/a.gguf"))
        let signed = try signer.presign(url: url, expires: seconds, at: Date(timeIntervalSince1970: 0))
        #expect(signed.absoluteString.contains("X-Amz-Expires=\(expected)&"))
    }

    @Test func signsNothingForOtherMachinesOverHTTP() throws {
        let signer = SigV4(accessKey: "A", secretKey: try #require(Secret("s")), region: "auto")
        let url = try #require(URL(string: "http://bucket.example/a.gguf"))
        let error = #expect(throws: HTTPError.self) { try signer.presign(url: url, expires: 60, at: Date()) }
        #expect(error?.code == .unsupportedURL)
        let other = #expect(throws: HTTPError.self) {
            try signer.authorize(HTTPRequest(url), payloadHash: SHA256Digest(hashing: Data()), at: Date())
        }
        #expect(other?.code == .unsupportedURL)
    }

    /// RFC 4231, 4.2 to 4.4 and 4.7.
    @Test(arguments: [
        ("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265", "b0344c61d8db38535ca8afceaf0bf12b"),
        ("4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f", "5bdcc146bf60754e6a042426089575c7"),
    ])
    func keyedDigestsAreThoseOfTheStandard(_ key: String, _ message: String, _ beginning: String) throws {
        let key = try #require([UInt8](hexadecimal: key))
        let message = try #require([UInt8](hexadecimal: message))
        #expect(HMACSHA256.code(of: message, key: key).hexadecimal.hasPrefix(beginning))
    }

    @Test(arguments: [
        ("a b/ü", true, "a%20b/%C3%BC"), ("a b/ü", false, "a%20b%2F%C3%BC"), ("-._~*'", true, "-._~%2A%27"),
    ])
    func onlyPlainLettersStay(_ text: String, _ keepsSlashes: Bool, _ expected: String) {
        #expect(PercentText.encoded(text, keepsSlashes: keepsSlashes) == expected)
        #expect(PercentText.decoded(expected) == Array(text.utf8))
    }

    @Test(arguments: ["%", "%4", "%zz", "a%"])
    func aPercentSignWithoutDigitsStandsForItself(_ text: String) {
        #expect(PercentText.decoded(text) == Array(text.utf8))
    }
}
