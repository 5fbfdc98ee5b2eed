import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

@Suite struct RetryBudgetTests {
    @Test func aWrongFileIsFetchedThreeTimes() {
        var budget = RetryBudget()
        #expect((0..<4).map { _ in budget.wrongFile() } == [.milliseconds(1500), .milliseconds(1500), nil, nil])
    }

    @Test func aWrongFileForgivesThePlacesAndNotItself() {
        var budget = RetryBudget()
        for _ in 0..<3 { _ = budget.failed(0, madeProgress: false, jitter: 1) }
        _ = budget.wrongFile()
        #expect(budget.failed(0, madeProgress: false, jitter: 1) == .seconds(0.5))
        _ = budget.wrongFile()
        #expect(budget.wrongFile() == nil)
    }

    @Test func chunksAndPlacesAreCountedOneByOne() {
        var budget = RetryBudget()
        #expect((0..<3).map { _ in budget.wrongChunk(7) } == [true, true, false])
        #expect((0..<1).map { _ in budget.wrongChunk(8) } == [true])
        #expect((0..<3).map { _ in budget.wrongChunk(from: 0) } == [true, true, false])
        #expect((0..<1).map { _ in budget.wrongChunk(from: 1) } == [true])
    }

    @Test func placesAreCountedOneByOne() {
        var budget = RetryBudget()
        let delays = (0..<4).map { _ in budget.failed(0, madeProgress: false, jitter: 1) }
        #expect(delays == [.seconds(0.5), .seconds(1), .seconds(2), nil])
        #expect(budget.failed(1, madeProgress: false, jitter: 1) == .seconds(0.5))
    }

    /// Only git's name of the file is promised: it decides in the transfer, like a digest.
    @Test(arguments: [0, 1, 2, 3]) func aGitBlobIsComparedLikeADigest(wrongAnswers: Int) async throws {
        let content = Content.pattern(count: 5000)
        let server = try FaultServer { request in
            FaultServer.answer(request, with: request.index < wrongAnswers ? .pattern(offset: 1, count: 5000) : content)
        }
        let folder = try TemporaryFolder()
        let clock = HurriedClock()
        let start = clock.now
        let transfer = FileTransfer(
            http: CurlHTTPClient(), fileSystem: LocalFileSystem(), time: clock.time, folder: folder.path)
        var request = TransferRequest(
            label: "config.json", locations: [try server.url("/config.json")], size: .exact(5000), digest: nil)
        request.gitBlob = GitBlobID(hashing: Array(content.bytes))
        guard wrongAnswers < 3 else {
            let error = await #expect(throws: TransferError.self) { try await transfer.fetch(request) { _ in } }
            #expect(error?.code == .checksumMismatch && error?.context.expected == request.gitBlob?.hex)
            #expect(server.requests.count == 3)
            #expect(try LocalFileSystem().files(below: folder.path).allSatisfy { !$0.hasSuffix("data.part") })
            return
        }
        let file = try await transfer.fetch(request) { _ in }
        #expect(file.digest == SHA256Digest(hashing: content.bytes))
        #expect(file.fetchedBytes == 5000 * UInt64(wrongAnswers + 1))
        #expect(start.duration(to: clock.now) == .milliseconds(1500 * wrongAnswers))
    }
}
