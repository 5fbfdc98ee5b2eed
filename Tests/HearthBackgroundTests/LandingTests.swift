import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthBackground

/// Moving files in the call that announces them.
@Suite struct LandingTests {
    private let folder: TemporaryFolder
    private let place: TransferFolder
    private let order: PieceOrder
    private let digest = SHA256Digest(hashing: Array("weights".utf8))

    init() throws {
        folder = try TemporaryFolder()
        place = try #require(TransferFolder(digest, in: folder.path("transfers"), fileSystem: LocalFileSystem()))
        let address = try #require(URL(address: "https://models.example.org/weights.gguf"))
        order = PieceOrder(id: "a-1", digest: digest, size: 100, range: 10..<30, address: address)
        try LocalFileSystem().makeFolders(place.path)
        let request = TransferRequest(label: "weights.gguf", locations: [address], size: .exact(100), digest: digest)
        try place.begin(TransferPlan(request, at: Date(timeIntervalSince1970: 0)))
    }

    private func take(_ count: Int?, status: Int, disk: any FileSystem = LocalFileSystem()) throws -> PieceReport {
        let file = try count.map { try folder.write("file", Data(count: $0)) } ?? folder.path("nothing")
        return Landing(transfers: folder.path("transfers"), fileSystem: disk).take(file, of: order, status: status)
    }

    @Test func thePieceLiesBesideItsTransfer() throws {
        #expect(try take(20, status: 206) == .landed(order, 10..<30))
        #expect(try place.landed().map(\.range) == [10..<30])
        #expect(try place.held(of: digest) == RangeSet(10..<30))
    }

    @Test(arguments: [
        (20, 404, PieceFailure.refused(status: 404)), (20, 302, .refused(status: 302)), (20, 0, .refused(status: 0)),
        (19, 206, .wrongBytes), (21, 206, .wrongBytes), (0, 206, .wrongBytes), (20, 200, .wrongBytes),
        (100, 206, .wrongBytes),
    ])
    func otherFilesAreNotKept(count: Int, status: Int, failure: PieceFailure) throws {
        #expect(try take(count, status: status) == .failed(order, failure))
        #expect(try place.landed().isEmpty)
    }

    @Test func aVanishedFileIsTold() throws {
        #expect(try take(nil, status: 206) == .failed(order, .wrongBytes))
    }

    @Test func aServerWithoutRangesSendsTheWholeFile() throws {
        #expect(try take(100, status: 200) == .landed(order, 0..<100))
    }

    /// A transfer that was cancelled meanwhile does not come back.
    @Test func aCancelledTransferStaysAway() throws {
        try place.remove()
        #expect(try take(20, status: 206) == .failed(order, .cannotKeep))
        #expect(try LocalFileSystem().contents(of: folder.path("transfers")).isEmpty)
    }

    /// The home is on another disk than the system's files.
    @Test func aFileOfAnotherDiskIsCopied() throws {
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .rename, errno: EXDEV)
        #expect(try take(20, status: 206, disk: disk) == .landed(order, 10..<30))
        #expect(try place.landed().map(\.range) == [10..<30])
    }

    @Test func aFullDiskIsTold() throws {
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .rename, errno: ENOSPC)
        #expect(try take(20, status: 206, disk: disk) == .failed(order, .cannotKeep))
    }

    /// Names that only look like pieces, and pieces of a length that their name denies.
    @Test func otherNamesAreNoPieces() throws {
        for name in [
            "landed-0-", "landed-5-5", "landed-9-5", "landed-0-10-20", "landed--1-5", "landed-0-18446744073709551615",
        ] {
            try folder.write("transfers/\(digest.hex)/\(name)", Data(count: 5))
        }
        try folder.write("transfers/\(digest.hex)/landed-0-6", Data(count: 5))
        #expect(try place.landed().isEmpty)
        #expect(try place.held(of: digest)?.isEmpty == true)
        #expect(try place.held(of: SHA256Digest(hashing: [1])) == nil)
    }
}
