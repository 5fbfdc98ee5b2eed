import Foundation
import Hearth
import HearthBase
import HearthTestSupport

@testable import HearthServer

/// A resident server of a home, on its unix socket and a free port.
final class ResidentFixture: Sendable {
    let native: NativeFixture
    let place: ResidentPlace
    let server: ResidentServer
    let address: ListeningAddress
    let key: String
    let chatKey: String
    let lines = Locked<[String]>([])

    init() async throws {
        native = try await NativeFixture()
        place = ResidentPlace(home: native.hearth.home, environment: [:])
        try place.prepare()
        key = try await AccessKeys.change(home: place.home) { try $0.create("test", scopes: [.admin], at: Date()) }
        chatKey = try await AccessKeys.change(home: place.home) { try $0.create("chat", scopes: [.chat], at: Date()) }
        try await SettingsFile(home: place.home).change { try $0.set("serve.origins", to: "https://app.example") }
        await native.home.reload()
        var bounds = CallerLimits.Bounds()
        bounds.burst = 40
        bounds.perMinute = 1
        let lines = lines
        server = ResidentServer(native.home, page: native.service, bounds: bounds) { line in
            lines.withLock { $0.append(line) }
        }
        let tcp = try ListeningSocket(host: "127.0.0.1", port: 0)
        guard let address = tcp.address else { throw RawConnection.Failure(number: 0) }
        self.address = address
        _ = try server.listen(on: [tcp, ListeningSocket(unix: place.socket)])
    }

    func close() async {
        await server.stop(grace: .zero)
        await native.close()
    }

    func get(_ path: String, method: String = "GET", _ fields: [String] = []) throws -> RawConnection.Response {
        let connection = try RawConnection(address)
        try connection.send(
            Array(
                "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n"
                    .utf8))
        return try connection.response(hasBody: method != "HEAD")
    }

    /// Runs a test with a server of its own.
    static func with(_ body: @Sendable (ResidentFixture) async throws -> Void) async throws {
        try await BlockingExecutor.run {
            let fixture = try await ResidentFixture()
            do {
                try await body(fixture)
            } catch {
                await fixture.close()
                throw error
            }
            await fixture.close()
        }
    }
}
