import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// Places of this machine that cannot be read.
@Suite(.timeLimit(.minutes(10))) struct FailingShareTests {
    private static let content = Content.pattern(count: 300_000)
    private static let digest = SHA256Digest(hashing: content.bytes)

    private let folder: TemporaryFolder
    private let clock = HurriedClock()

    init() throws { folder = try TemporaryFolder() }

    private func fetch(_ share: FaultyFileSystem, mirror: FaultServer?) async throws -> TransferredFile {
        let file = try folder.write("share.gguf", Self.content.bytes)
        let locations = [file.url] + (try mirror.map { [try $0.url("/m.gguf")] } ?? [])
        let request = TransferRequest(
            label: "m.gguf", locations: locations, size: .exact(Self.content.count), digest: Self.digest)
        return try await FileTransfer(
            http: DefaultHTTPClient(network: CurlHTTPClient(), fileSystem: share), fileSystem: LocalFileSystem(),
            time: clock.time, folder: folder.path("transfers")
        ).fetch(request) { _ in }
    }

    @Test(
        arguments: [
            (.read, EIO), (.read, ESTALE), (.openExisting, EACCES), (.openExisting, EIO),
        ] as [(FaultyFileSystem.Operation, Int32)])
    func anotherPlaceTakesOver(operation: FaultyFileSystem.Operation, number: Int32) async throws {
        let share = FaultyFileSystem()
        share.fail(call: 1, of: operation, errno: number, stays: true)
        let mirror = try FaultServer(FaultServer.file(Self.content))
        #expect(try await fetch(share, mirror: mirror).digest == Self.digest)
        #expect(mirror.requests.count == 1)
    }

    @Test func aShareThatIsBackGoesOn() async throws {
        let share = FaultyFileSystem()
        share.fail(call: 1, of: .read, errno: ESTALE)
        #expect(try await fetch(share, mirror: nil).digest == Self.digest)
    }

    @Test func aShareThatStaysAwayIsAnError() async throws {
        let share = FaultyFileSystem()
        share.fail(call: 1, of: .read, errno: EIO, stays: true)
        let error = await #expect(throws: HTTPError.self) { try await fetch(share, mirror: nil) }
        #expect((error?.underlying as? FileError)?.code == .ioFailure)
        #expect(share.calls.count { $0.operation == .read } == 4, "attempts")
    }
}
