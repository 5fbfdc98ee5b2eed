import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthHTTP

struct RedirectPolicyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var from = "https://a.example/x/y?q=1"
        var status = 302
        var location: String? = "https://a.example/z"
        /// Where it leads, `nil` when the response is final.
        var to: String?
        var refused: ErrorCode<HTTPErrorDomain>?
        var keepsCredentials = true

        var testDescription: String { "\(from) \(status) \(location ?? "-")" }
    }

    static let cases = [
        Case(to: "https://a.example/z"),
        Case(status: 301, location: "z", to: "https://a.example/x/z"),
        Case(status: 307, location: "/z?k=v", to: "https://a.example/z?k=v"),
        Case(status: 308, location: "../z", to: "https://a.example/z"),
        Case(location: "//b.example/z", to: "https://b.example/z", keepsCredentials: false),
        Case(location: "https://b.example/z", to: "https://b.example/z", keepsCredentials: false),
        Case(location: "https://a.example.b.example/", to: "https://a.example.b.example/", keepsCredentials: false),
        Case(location: "https://a.example:444/z", to: "https://a.example:444/z", keepsCredentials: false),
        Case(location: "https://A.EXAMPLE:443/z", to: "https://a.example/z"),
        Case(location: "http://a.example/z", refused: .insecureRedirect),
        Case(location: "http://127.0.0.1/z", refused: .insecureRedirect),
        Case(location: "file:///etc/passwd", refused: .badResponse),
        Case(location: "ftp://a.example/z", refused: .badResponse),
        Case(location: "https://u:p@a.example/z", refused: .badResponse),
        Case(location: "https://", refused: .badResponse),
        Case(from: "http://127.0.0.1:8080/x", location: "http://127.0.0.1:8080/z", to: "http://127.0.0.1:8080/z"),
        Case(
            from: "http://127.0.0.1:8080/x", location: "http://localhost:8080/z", to: "http://localhost:8080/z",
            keepsCredentials: false),
        Case(
            from: "http://127.0.0.1:8080/x", location: "https://a.example/z", to: "https://a.example/z",
            keepsCredentials: false),
        Case(
            from: "http://127.0.0.1/x", location: "https://127.0.0.1/z", to: "https://127.0.0.1/z",
            keepsCredentials: false),
        Case(from: "http://[::1]:1/x", location: "/z", to: "http://[::1]:1/z"),
        Case(from: "http://127.0.0.1:8080/x", location: "http://a.example/z", refused: .insecureRedirect),
        Case(from: "http://localhost/x", location: "http://10.0.0.1/z", refused: .insecureRedirect),
        Case(location: nil),
        Case(status: 200), Case(status: 300), Case(status: 304), Case(status: 305), Case(status: 404),
    ]

    @Test(arguments: cases)
    func whereARedirectLeads(_ example: Case) throws {
        let headers: HTTPHeaders = ["Cookie": "c", "authorization": "a", "Range": "bytes=1-"]
        let url = try #require(URL(string: example.from))
        let hop = try Hop(HTTPRequest(url, headers: headers, authorization: "Bearer s3cret"))
        let policy = RedirectPolicy(maximum: 10)
        if let code = example.refused {
            #expect {
                try policy.next(after: hop, status: example.status, location: example.location)
            } throws: { ($0 as? HTTPError)?.code == code }
            return
        }
        let next = try policy.next(after: hop, status: example.status, location: example.location)
        #expect(next?.address.text == example.to)
        guard let next else { return }
        #expect(next.headers["Range"] == "bytes=1-")
        #expect((next.authorization != nil) == example.keepsCredentials)
        #expect((next.headers["Cookie"] != nil) == example.keepsCredentials)
        #expect((next.headers["Authorization"] != nil) == example.keepsCredentials)
    }

    @Test(arguments: [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"), (308, "POST", "POST"),
        (301, "PUT", "PUT"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"), (302, "HEAD", "HEAD"), (302, "GET", "GET"),
    ])
    func whatTheMethodBecomes(status: Int, method: String, expected: String) throws {
        let url = try #require(URL(string: "https://a.example/"))
        let hop = try Hop(
            HTTPRequest(url, method: method, headers: ["Content-Type": "x/y"], body: Data("body".utf8)))
        let next = try RedirectPolicy(maximum: 1).next(after: hop, status: status, location: "/next")
        #expect(next?.method == expected)
        // Only a repeated request takes its body along; HEAD and GET of a 301 or 302 are repeated as well.
        let isRepeated = status != 303 && method == expected
        #expect((next?.body != nil) == isRepeated)
        #expect((next?.headers["Content-Type"] != nil) == isRepeated)
    }

    @Test func thereIsAnEndToIt() throws {
        let url = try #require(URL(string: "https://a.example/"))
        var hop = try Hop(HTTPRequest(url))
        let policy = RedirectPolicy(maximum: 3)
        for _ in 0..<3 { hop = try #require(try policy.next(after: hop, status: 302, location: "/")) }
        #expect { try policy.next(after: hop, status: 302, location: "/") } throws: {
            ($0 as? HTTPError)?.code == .tooManyRedirects
        }
        #expect(try RedirectPolicy(maximum: 0).next(after: hop, status: 302, location: "/") == nil)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct RedirectTests {
    let client = CurlHTTPClient()

    @Test func theFinalResponseIsWhatArrives() async throws {
        let server = try FaultServer { request in
            switch request.path {
            case "/a": Reply.redirect("/b?x=1").header("X-Hop", "a")
            case "/b": Reply(301, headers: ["Location": "c"], body: .pattern(count: 10_000_000))
            default: Reply.text("there")
            }
        }
        let response = try await client.execute(HTTPRequest(try server.url("/a")))
        #expect(response.status == 200)
        #expect(response.url == (try server.url("/c")))
        #expect(response.headers["X-Hop"] == nil)
        #expect(response.headers["Location"] == nil)
        #expect(try await response.body.collect(upTo: 10) == Data("there".utf8))
        #expect(server.requests.map(\.target) == ["/a", "/b?x=1", "/c"])
    }

    @Test func credentialsStayWithTheirHost() async throws {
        let other = try FaultServer { _ in .text("other") }
        let target = try other.url("/", host: "localhost").absoluteString
        let server = try FaultServer { request in request.path == "/1" ? .redirect("/2") : .redirect(target) }
        let request = HTTPRequest(
            try server.url("/1"), headers: ["Cookie": "c=1", "X-Keep": "k"], authorization: "Bearer s3cret")
        let response = try await client.execute(request)
        #expect(try await response.body.collect(upTo: 10) == Data("other".utf8))
        #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer s3cret", "Bearer s3cret"])
        let last = try #require(other.requests.first)
        #expect(last.headers["Authorization"] == nil)
        #expect(last.headers["Cookie"] == nil)
        #expect(last.headers["X-Keep"] == "k")
    }

    @Test func aLoopEnds() async throws {
        let server = try FaultServer { _ in .redirect("/again") }
        await #expect {
            _ = try await client.execute(HTTPRequest(try server.url("/"), maximumRedirects: 4))
        } throws: { ($0 as? HTTPError)?.code == .tooManyRedirects }
        #expect(server.requests.count == 5)
    }

    @Test func leavingThisMachineByHTTPIsRefused() async throws {
        let server = try FaultServer { _ in .redirect("http://example.org/") }
        await #expect {
            _ = try await client.execute(HTTPRequest(try server.url("/")))
        } throws: { ($0 as? HTTPError)?.code == .insecureRedirect }
    }

    @Test func withoutLeaveARedirectIsAResponse() async throws {
        let server = try FaultServer { _ in .redirect("/next") }
        let response = try await client.execute(HTTPRequest(try server.url("/"), maximumRedirects: 0))
        #expect(response.status == 302)
        #expect(response.headers["Location"] == "/next")
    }
}
