import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// A transfer in many small pieces over several connections, whose journal is written all the time.
enum DurabilityScenario: String, CaseIterable, Sendable {
    /// Only the digest of the whole is known.
    case plain
    /// Each chunk is known.
    case indexed
    /// One chunk arrives damaged and comes again.
    case damagedChunk
    /// The journal of an earlier attempt is damaged: the bytes that are there are taken over and checked.
    case adopted
    /// So with a chunk index.
    case adoptedIndexed
    /// The server has another entity tag half-way, and sends everything again.
    case changedEntity

    static let content = Content.pattern(offset: 17, count: 150_000)
    static let bytes = content.bytes
    static let digest = SHA256Digest(hashing: bytes)
    static let index: ChunkIndex? = {
        var builder = ChunkIndexBuilder(length: 16 << 10)
        bytes.withUnsafeBytes { builder.update($0) }
        return try? builder.finalize().index
    }()

    static var tuning: TransferTuning {
        var tuning = TransferTuning()
        tuning.pieceLength = 16 << 10
        tuning.minimumSplit = 1 << 40
        tuning.stragglerInterval = nil
        tuning.recordBytes = 1
        tuning.recordInterval = .zero
        return tuning
    }

    private var hasIndex: Bool { [.indexed, .damagedChunk, .adoptedIndexed].contains(self) }
    /// Whether an attempt after an interruption may fetch recorded bytes again.
    var mayFetchAgain: Bool { [.damagedChunk, .adopted, .changedEntity].contains(self) }

    func request() throws -> TransferRequest {
        var request = TransferRequest(
            label: "model", locations: [try #require(URL(string: "http://127.0.0.1:1/model"))],
            size: .exact(Self.content.count), digest: Self.digest)
        guard hasIndex else { return request }
        request.index = Self.index
        #expect(request.index != nil)
        return request
    }

    /// Who serves the first attempt: its second piece stands still until most of the rest is there, so that there are holes.
    func origin() -> MemoryOrigin {
        switch self {
        case .plain, .indexed: MemoryOrigin(Self.content, held: (16 << 10, 100_000))
        case .damagedChunk: MemoryOrigin(Self.content, damage: 70_000)
        case .adopted, .adoptedIndexed: MemoryOrigin(Self.content)
        case .changedEntity: MemoryOrigin(Self.content, entityTag: { $0 < 5 ? "\"v1\"" : "\"v2\"" })
        }
    }

    /// Puts into a transfers folder what an earlier attempt left.
    func prepare(_ transfers: Path) throws {
        let disk = LocalFileSystem()
        let place = Self.place(in: transfers)
        try disk.makeFolders(place)
        guard self == .adopted || self == .adoptedIndexed else { return }
        let part = try disk.open(place.appending("data.part"), .createNew)
        for range in [0..<49_152, 81_920..<98_304] {
            try Self.bytes[range].withUnsafeBytes { try disk.write(part, $0, at: UInt64(range.lowerBound)) }
        }
        try Data("{ \"format\": 1, \"exte".utf8).write(to: place.appending("journal").url)
    }

    /// The folder of the transfer.
    static func place(in transfers: Path) -> Path { Path(transfers.string + "/" + digest.hex) }

    /// Fetches the file, or what is missing of it.
    func fetch(_ transfers: Path, from origin: MemoryOrigin, on disk: any FileSystem = LocalFileSystem()) async throws {
        let transfer = FileTransfer(
            http: origin, fileSystem: disk, time: HurriedClock().time, folder: transfers, tuning: Self.tuning)
        let file = try await transfer.fetch(try request()) { _ in }
        #expect(file.digest == Self.digest, "\(self)")
    }

    /// What the journal on a disk vouches for; checks that every byte of it is there.
    static func recorded(_ transfers: Path, _ note: String) throws -> RangeSet<UInt64> {
        let place = place(in: transfers)
        guard let journal = try TransferJournal.read(place.appending("journal"), in: LocalFileSystem()) else {
            return RangeSet()
        }
        let part = try LocalFileSystem().contents(ofFile: place.appending("data.part"), limit: 1 << 20)
        for range in journal.held.ranges {
            let (start, end) = (Int(range.lowerBound), Int(range.upperBound))
            guard end <= part.count else {
                Issue.record("\(note): the journal names \(range) of \(part.count) bytes")
                continue
            }
            let isRight = part[start..<end] == bytes[start..<end]
            // Bytes that a server sent wrong are recorded like others, until their chunk is checked.
            #expect(isRight || note.hasPrefix("damagedChunk") || note.hasPrefix("adopted"), "\(note): \(range)")
        }
        return journal.held
    }

    /// Lets the minute pass in which a lease that cannot be read may be one that is just being written.
    static func ageLease(_ transfers: Path) throws {
        let lease = place(in: transfers).appending("lease").string
        guard FileManager.default.fileExists(atPath: lease) else { return }
        let earlier = Date(timeIntervalSinceNow: -2 * TransferLock.lifetime.seconds)
        try FileManager.default.setAttributes([.modificationDate: earlier], ofItemAtPath: lease)
    }

    /// Fetches to the end what an interruption left, and checks what that costs.
    /// - Parameter kept: what must not be fetched again.
    func recover(_ transfers: Path, keeping kept: RangeSet<UInt64>, _ note: String) async throws {
        let origin = MemoryOrigin(Self.content, entityTag: { [self] _ in self == .changedEntity ? "\"v2\"" : "\"v1\"" })
        try await fetch(transfers, from: origin)
        let part = Self.place(in: transfers).appending("data.part")
        #expect(try LocalFileSystem().digest(ofFile: part) == Self.digest, "\(note)")
        let bound = mayFetchAgain ? 2 * Self.content.count : Self.content.count - kept.byteCount
        #expect(origin.bytesTaken <= bound, "\(note): \(origin.bytesTaken) bytes, \(kept.byteCount) were recorded")
    }
}
