import Foundation
import HearthBase
import HearthTestSupport

@testable import HearthServer

/// A running origin over a folder of its own.
final class OriginFixture: Sendable {
    /// The served folder; `root` holds it beside what must stay unreachable.
    let folder: Path
    let root: TemporaryFolder
    let address: ListeningAddress
    let log = ExchangeLog()
    private let server: OriginServer

    /// 300,000 bytes in which every 4-byte word differs.
    static let weights: [UInt8] = (0..<75_000).flatMap { word -> [UInt8] in
        let word = UInt32(word) &* 2_654_435_761
        return [UInt8(word >> 24), UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)]
    }

    init() throws {
        root = try TemporaryFolder()
        folder = root.path("origin")
        try root.write("secret.txt", Data("secret".utf8))
        try root.write("origin/models.json", Data(#"{"schemaVersion":1}"#.utf8))
        try root.write("origin/models/m.gguf", Data(Self.weights))
        try root.write("origin/models/with space.txt", Data("spaced".utf8))
        try root.write("origin/empty.gguf", Data())
        try root.write("origin/.hidden", Data("hidden".utf8))
        try root.write("origin/models/.m.gguf.tmp-1x", Data("half".utf8))
        let files = LocalFileSystem()
        try files.makeLink(at: root.path("origin/outside.gguf"), to: "../secret.txt")
        try files.makeLink(at: root.path("origin/absolute.gguf"), to: "/etc/passwd")
        try files.makeLink(at: root.path("origin/up"), to: "..")
        try files.makeLink(at: root.path("origin/latest.gguf"), to: "models/m.gguf")
        try files.makeLink(at: root.path("origin/circle.gguf"), to: "circle.gguf")
        let log = log
        server = try OriginServer(folder: folder, finished: { log.append($0) })
        address = server.address
    }

    func stop() async { await server.stop() }

    /// Runs a test's body on threads that may block, and stops the server whatever happens.
    static func with(_ body: @Sendable (OriginFixture) async throws -> Void) async throws {
        try await BlockingExecutor.run {
            let fixture = try OriginFixture()
            do {
                try await body(fixture)
            } catch {
                await fixture.stop()
                throw error
            }
            await fixture.stop()
        }
    }
}

/// The exchanges in the order they ended, and a way to wait for the next.
final class ExchangeLog: Sendable {
    private struct State {
        var entries: [FinishedExchange] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var entries: [FinishedExchange] { state.withLock { $0.entries } }

    func append(_ entry: FinishedExchange) {
        let waiters = state.withLock { state in
            state.entries.append(entry)
            let due = state.waiters.filter { $0.count <= state.entries.count }
            state.waiters.removeAll { $0.count <= state.entries.count }
            return due.map(\.continuation)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The first `count` entries, once there are so many.
    func entries(atLeast count: Int) async -> [FinishedExchange] {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.entries.count < count { state.waiters.append((count, continuation)) }
                return state.entries.count >= count
            }
            if isDue { continuation.resume() }
        }
        return entries
    }
}
