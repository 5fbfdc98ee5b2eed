import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite(.timeLimit(.minutes(10)))
struct ProxyTests {
    /// In a process of its own: the environment is shared by all tests, and not safe to change while others read it.
    @Test func theEnvironmentsProxyIsUsedExceptForThisMachine() async {
        await #expect(processExitsWith: .success) {
            let proxy = try FaultServer { _ in Reply.text("no", status: 403) }
            let server = try FaultServer { _ in Reply.text("direct") }
            for name in ["https_proxy", "http_proxy", "all_proxy"] {
                setenv(name, "http://127.0.0.1:\(proxy.port)", 1)
            }
            for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
            let client = CurlHTTPClient()
            for host in ["127.0.0.1", "localhost"] {
                let response = try await client.execute(HTTPRequest(try server.url("/", host: host)))
                #expect(try await response.body.collect(upTo: 10) == Data("direct".utf8))
            }
            #expect(proxy.requests.isEmpty)

            let url = try #require(URL(string: "https://models.example.invalid/x?key=s3cret"))
            let request = HTTPRequest(url, authorization: "Bearer s3cret")
            await #expect {
                _ = try await client.execute(request)
            } throws: { error in
                (error as? HTTPError)?.code == .cannotConnect
                    && (error as? HTTPError)?.context.found == "status 403"
            }
            let connect = try #require(proxy.requests.first)
            #expect(connect.method == "CONNECT")
            #expect(connect.target == "models.example.invalid:443")
            #expect(connect.headers["Authorization"] == nil)
        }
    }

    @Test func aDeadProxyIsNamed() async {
        await #expect(processExitsWith: .success) {
            let port = try ClosedPort()
            setenv("https_proxy", "http://me:s3cret@127.0.0.1:\(port.port)", 1)
            for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
            let url = try #require(URL(string: "https://models.example.invalid/x"))
            await #expect {
                _ = try await CurlHTTPClient().execute(HTTPRequest(url))
            } throws: { error in
                guard let error = error as? HTTPError, let remedy = error.context.remedy else { return false }
                return error.code == .cannotConnect && error.context.field == "proxy"
                    && error.message.contains("127.0.0.1:\(port.port)")
                    && !error.message.contains("s3cret") && remedy.contains("https_proxy")
            }
        }
    }
}
