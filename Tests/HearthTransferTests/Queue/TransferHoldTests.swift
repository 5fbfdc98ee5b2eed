import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// A transfer that waits for the network, seen from its own process and from another.
@Suite(.timeLimit(.minutes(10))) struct TransferHoldTests {
    private static let content = Content.pattern(count: 50_000)

    /// A server far away that says nothing before a test lets it.
    private final class FarServer: HTTPClient {
        private let origin = MemoryOrigin(TransferHoldTests.content)
        private let (gate, opening) = AsyncStream<Never>.makeStream()
        private let (arrivals, arrival) = AsyncStream<Void>.makeStream()

        func open() { opening.finish() }

        func asked() async { for await _ in arrivals { return } }

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            arrival.yield()
            for await _ in gate {}
            return try await origin.execute(request)
        }
    }

    private func manager(_ folder: Path, _ server: FarServer, _ network: ScriptedNetworkMonitor) -> TransferManager {
        TransferManager(
            transfer: FileTransfer(
                http: server, fileSystem: LocalFileSystem(), time: HurriedClock().time, folder: folder, network: network
            ),
            folder: folder, fileSystem: LocalFileSystem(), time: ManualClock().time)
    }

    /// Looks until the only transfer stands so.
    private func wait(
        _ manager: TransferManager, until isIt: (TransferSummary.State) -> Bool
    ) async throws -> TransferSummary.State {
        while true {
            if let state = try await manager.list().first?.state, isIt(state) { return state }
            await Task.yield()
        }
    }

    @Test(arguments: [(NetworkCondition.metered, DownloadHold.metered), (.offline, .offline)])
    func othersSeeWhatItWaitsFor(_ condition: NetworkCondition, _ hold: DownloadHold) async throws {
        let folder = try TemporaryFolder()
        let server = FarServer()
        let network = ScriptedNetworkMonitor(condition)
        let here = manager(folder.path, server, network)
        let elsewhere = manager(folder.path, server, ScriptedNetworkMonitor())
        let request = TransferRequest(
            label: "m.gguf", locations: [try #require(URL(string: "https://models.example/m.gguf"))],
            size: .exact(Self.content.count), digest: SHA256Digest(hashing: Self.content.bytes))
        let running = Task { try await here.fetch(request) }

        let holder = TransferHolder(process: getpid(), isHere: true, hold: hold)
        for manager in [here, elsewhere] {
            let state = try await wait(manager) { $0.word == "waiting" }
            #expect(state == .held(.waiting(hold), by: holder))
            #expect(state.isHeld)
        }

        network.change(to: .unrestricted)
        await server.asked()
        let state = try await wait(elsewhere) { $0.word != "waiting" }
        #expect(state == .held(nil, by: TransferHolder(process: getpid(), isHere: true)))
        server.open()
        #expect(try await running.value.size == Self.content.count)
        await here.release(request, discarding: true)
    }
}

/// Services that give out addresses fail in their own words.
@Suite struct SourceAddressTests {
    private struct Misfortune: Error {}

    private struct Service: DownloadURLProvider {
        let error: any Error

        func downloadURL(for location: URL) async throws -> URL { throw error }
    }

    private func failure(_ error: any Error) async throws -> (any Error)? {
        let location = try #require(URL(string: "https://models.example/m.gguf?key=secret"))
        do {
            _ = try await SourceAddresses(locations: [location], provider: Service(error: error)).address(of: 0)
            return nil
        } catch {
            return error
        }
    }

    @Test func everyFailureHasACode() async throws {
        let own = try #require(try await failure(Misfortune()) as? TransferError)
        #expect(own.code == .noAddress)
        #expect(own.underlying is Misfortune)
        #expect(!"\(own)".contains("secret"))
        #expect(try await failure(CancellationError()) is CancellationError)
        let known = TransferError(.serverBusy, "later", disposition: .tryLater)
        #expect((try await failure(known) as? TransferError)?.code == .serverBusy)
    }
}
