import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite(.serialized) struct PageReaderTests {
    /// A reader for which `page.test` and `other.test` are this machine.
    private let reader = PageReader(
        rule: { $0.description == "127.0.0.1" },
        resolve: {
            ["page.test", "other.test"].contains($0)
                ? [IPAddress("127.0.0.1")].compactMap(\.self) : try IPAddress.resolve($0)
        })

    private func html(_ text: String) -> Reply {
        Reply(headers: ["Content-Type": "text/html; charset=utf-8"], body: .data(Data(text.utf8)))
    }

    @Test func aPageIsReadFromTheAddressesThatWereChecked() async throws {
        let server = try FaultServer { _ in html("<title>T</title><p>Grün") }
        let page = try await reader.read(server.url("/a", host: "page.test"))
        #expect(page.title == "T" && page.text == "Grün")
        #expect(server.requests.first?.headers["Host"] == "page.test:\(server.port)")
    }

    @Test(arguments: [
        "http://127.0.0.1/", "http://localhost/", "https://[::1]/", "http://169.254.169.254/latest", "http://10.0.0.1/",
        "http://[::ffff:10.0.0.1]/", "http://2130706433/", "http://0x7f000001/", "http://127.1/", "http://0/",
        "ftp://example.org/", "file:///etc/passwd", "https://user:secret@example.org/", "https:///x", "gopher://x/",
        "http://[64:ff9b::7f00:1]/",
    ])
    func addressesOfThisMachineAndOfPrivateNetworksAreRefused(_ text: String) async throws {
        let url = try #require(URL(string: text))
        let error = await #expect(throws: AssistantError.self) { try await PageReader().read(url) }
        #expect(error?.code == .pageRefused)
    }

    @Test func aRedirectIsCheckedAsTheFirstAddress() async throws {
        let server = try FaultServer { request in
            request.target == "/end"
                ? html("<p>end") : .redirect("http://other.test:\(request.headers["X"] ?? "0")/end")
        }
        _ = server
        let second = try FaultServer { _ in html("<p>end") }
        let port = second.port
        let first = try FaultServer { request in
            switch request.target {
            case "/good": .redirect("http://other.test:\(port)/end")
            case "/relative": .redirect("good")
            case "/loop": .redirect("/loop")
            case "/metadata": .redirect("http://169.254.169.254/latest/meta-data")
            case "/name": .redirect("http://localhost:\(port)/end")
            default: .redirect("file:///etc/passwd")
            }
        }
        #expect(try await reader.read(first.url("/good", host: "page.test")).text == "end")
        #expect(try await reader.read(first.url("/relative", host: "page.test")).text == "end")
        for path in ["/loop", "/metadata", "/file"] {
            let error = await #expect(throws: AssistantError.self) {
                try await reader.read(first.url(path, host: "page.test"))
            }
            #expect(error?.code == .pageRefused, "\(path)")
        }
    }

    /// The name may stand for several addresses: one in a private network is enough to refuse.
    @Test func oneClosedAddressRefusesTheHost() async throws {
        let url = try #require(URL(string: "https://two.test/"))
        let reader = PageReader(resolve: { _ in ["8.8.8.8", "192.168.1.1"].compactMap { IPAddress($0) } })
        let error = await #expect(throws: AssistantError.self) { try await reader.read(url) }
        #expect(error?.code == .pageRefused)
        let none = PageReader(resolve: { _ in [] })
        #expect(await #expect(throws: AssistantError.self) { try await none.read(url) }?.code == .pageRefused)
    }

    @Test func whatIsNoPageIsUnreadable() async throws {
        let server = try FaultServer { request in
            switch request.target {
            case "/missing": Reply(404)
            case "/binary": Reply(headers: ["Content-Type": "image/png"], body: .data(Data([1, 2, 3])))
            case "/empty": html("<p> </p>")
            default: Reply(headers: ["Content-Type": "text/plain"], body: .data(Data("just text".utf8)))
            }
        }
        for path in ["/missing", "/binary", "/empty"] {
            let error = await #expect(throws: AssistantError.self) {
                try await reader.read(server.url(path, host: "page.test"))
            }
            #expect(error?.code == .unreadablePage, "\(path)")
        }
        #expect(try await reader.read(server.url("/text", host: "page.test")).text == "just text")
    }

    @Test func aPagePastTheLimitIsRefused() async throws {
        let server = try FaultServer { _ in
            Reply(
                headers: ["Content-Type": "text/html"],
                body: .data(Data(repeating: 0x61, count: HTMLText.maximumSize + 1)))
        }
        let error = await #expect(throws: HTTPError.self) { try await reader.read(server.url("/", host: "page.test")) }
        #expect(error?.code == .tooLarge)
    }

    @Test(arguments: [
        ("see https://example.org/a?b=c. Then", ["https://example.org/a?b=c"]),
        ("(http://example.org), <https://x.y/>", ["http://example.org", "https://x.y/"]),
        ("example.org ftp://x https:// mailto:a@b", ["https://"]), ("", []),
        ("読む https://example.org/日本 を", ["https://example.org/日本"]),
    ])
    func addressesAreFoundInWords(_ text: String, _ expected: [String]) {
        #expect(PageReader.addresses(in: text) == expected)
    }
}
