import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

@Suite struct StoragePolicyTests {
    @Test(
        arguments: [
            (1000, 0, 1200, 1200, true), (1000, 0, 1199, 1200, false), (1000, 0, 0, 1200, false),
            (1000, 0, nil, 1200, false), (1000, 400, 720, 720, true), (1000, 400, 719, 720, false),
            (1001, 0, 1201, 1202, false), (1001, 0, 1202, 1202, true), (1, 0, 1, 2, false),
            // Nothing more is needed: a full disk may finish, a silent one may not.
            (1000, 1000, 0, 0, true), (1000, 2000, 0, 0, true), (0, 0, 0, 0, true), (1000, 1000, nil, 0, false),
            (.max, 0, .max - 1, .max, false), (.max, .max, 0, 0, true),
        ] as [(UInt64, UInt64, UInt64?, UInt64, Bool)])
    func verdicts(total: UInt64, held: UInt64, free: UInt64?, required: UInt64, isAllowed: Bool) {
        let policy = StoragePolicy(total: total, held: held)
        #expect(policy.required == required)
        #expect(policy.allows(free: free) == isAllowed)
    }
}

/// The policy where it works: before the first byte of a pull.
@Suite(.timeLimit(.minutes(10))) struct StorageTests {
    /// A disk with as much free space as it is told, which does or does not fill up while bytes come.
    private struct SmallDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        var free: UInt64?
        var fillsUp = false

        func freeSpace(at path: Path) throws -> UInt64 {
            guard let free else { throw FileError(errno: EIO, doing: "examine the disk of", path: path) }
            return free
        }

        func allocate(_ file: OpenFile, size: UInt64) throws {
            if fillsUp { throw FileError(errno: ENOSPC, doing: "reserve space for", path: file.path) }
            try base.allocate(file, size: size)
        }
    }

    private static let content = Content.pattern(count: 400_000).bytes
    private let folder: TemporaryFolder
    private let model: Path

    init() throws {
        folder = try TemporaryFolder()
        model = try folder.write("toy-v1.0.0-q4_1.gguf", Self.content)
    }

    private func manager(_ disk: SmallDisk) -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [], fileSystem: disk, network: UnmonitoredNetwork(),
            deviceMemory: 8 << 30)
    }

    private func refusal(_ disk: SmallDisk) async -> DeliveryError? {
        await #expect(throws: DeliveryError.self) { try await manager(disk).pull(.file(model)) }
    }

    @Test(arguments: [0, 400_000, 479_999] as [UInt64])
    func tooLittleIsRefusedBeforeTheFirstByte(free: UInt64) async throws {
        let error = await refusal(SmallDisk(free: free))
        #expect(error?.code == .insufficientStorage)
        #expect(error?.context.expected == "480000 bytes")
        #expect(error?.context.found == "\(free) bytes")
        #expect(error?.context.remedy != nil)
        let transfers = try LocalFileSystem().contents(of: folder.path("home/transfers"))
        #expect(transfers == [], "not even a folder was made for it")
    }

    /// A publisher's `storageBytes` are the free space that a device needs, the spare fifth included.
    @Test(arguments: [(UInt64(600_000), "600000 bytes"), (480_000, "480000 bytes"), (100, "480000 bytes")])
    func storageBytesOfThePublisherCount(_ storage: UInt64, _ expected: String) async throws {
        let manager = manager(SmallDisk(free: 479_999))
        var release = try await manager.resolve(.file(model)).release
        release.requirements.storageBytes = storage
        let offer = Offer(release: release, reason: .asked).named(true)
        let error = await #expect(throws: DeliveryError.self) { try await manager.pull(offer) }
        #expect(error?.code == .insufficientStorage && error?.context.expected == expected)
    }

    @Test func noOptionOverridesIt() async throws {
        var options = PullOptions()
        options.ignoreMemory = true
        options.allowUnverified = true
        options.allowStale = true
        options.allowDowngrade = true
        let error = await #expect(throws: DeliveryError.self) {
            try await manager(SmallDisk(free: 1000)).pull(.file(model), options: options)
        }
        #expect(error?.code == .insufficientStorage)
    }

    @Test func anUnknownAmountIsRefused() async throws {
        let error = await refusal(SmallDisk(free: nil))
        #expect(error?.code == .insufficientStorage)
        #expect(error?.context.found == "unknown")
        #expect((error?.underlying as? FileError)?.code == .ioFailure)
    }

    @Test func enoughIsEnough() async throws {
        let outcome = try await manager(SmallDisk(free: 480_000)).pull(.file(model))
        #expect(outcome.release.isActive)
    }

    @Test func aResumedTransferNeedsOnlyTheRest() async throws {
        let digest = SHA256Digest(hashing: Self.content)
        try await manager(SmallDisk(free: .max)).store.prepare()
        let place = "home/transfers/\(digest.hex)"
        try folder.write(place + "/data.part", Self.content.prefix(300_000))
        let journal = TransferJournal(
            digest: digest, size: 400_000, location: model.url.withoutQuery,
            extents: [TransferJournal.Extent(start: 0, end: 300_000)])
        try journal.write(folder.path(place + "/journal"), in: LocalFileSystem())

        // Blocks of the disk may hold a little more than was recorded, never less.
        let error = await refusal(SmallDisk(free: 40_000))
        #expect(error?.code == .insufficientStorage)
        let outcome = try await manager(SmallDisk(free: 120_000)).pull(.file(model))
        guard case .installed(_, let fetched) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(fetched == 100_000)
    }

    @Test func spaceReservedByAnEarlierAttemptIsNotAskedForTwice() async throws {
        let digest = SHA256Digest(hashing: Self.content)
        try await manager(SmallDisk(free: .max)).store.prepare()
        let part = try folder.write("home/transfers/\(digest.hex)/data.part", Data())
        let disk = LocalFileSystem()
        try disk.allocate(try disk.open(part, .readWrite), size: 400_000)
        // A disk that cannot reserve has nothing to show here.
        guard try #require(try disk.status(at: part)).allocatedSize >= 400_000 else { return }
        let outcome = try await manager(SmallDisk(free: 0)).pull(.file(model))
        #expect(outcome.release.isActive)
    }

    @Test func aDiskThatFillsUpOnTheWayIsFull() async throws {
        let error = await #expect(throws: FileError.self) {
            try await manager(SmallDisk(free: .max, fillsUp: true)).pull(.file(model))
        }
        #expect(error?.code == .diskFull)
    }
}

/// The policy while bytes come, on a disk that cannot reserve space.
@Suite(.timeLimit(.minutes(10))) struct ShortageTests {
    private struct SparseDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let free: UInt64

        func allocate(_ file: OpenFile, size: UInt64) throws { try base.truncate(file, to: size) }
        func freeSpace(at path: Path) throws -> UInt64 { free }
    }

    private static let content = Content.pattern(count: 4_000_000)

    @Test func aDiskThatOthersFillUpEndsTheTransferInTime() async throws {
        let folder = try TemporaryFolder()
        // The rest only comes once what is here was recorded, and the disk looked at.
        let gate = Gate()
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            return request.index == 0 ? reply.stalled(after: 1_000_000, at: gate) : reply
        }
        var small = TransferTuning()
        small.recordBytes = 1
        let tuning = small
        let request = TransferRequest(
            label: "m.gguf", locations: [try server.url("/m.gguf")], size: .exact(Self.content.count),
            digest: SHA256Digest(hashing: Self.content.bytes))
        @Sendable func transfer(_ disk: any FileSystem) -> FileTransfer {
            FileTransfer(
                http: CurlHTTPClient(), fileSystem: disk, time: HurriedClock().time, folder: folder.path, tuning: tuning
            )
        }
        let journal = folder.path("\(SHA256Digest(hashing: Self.content.bytes).hex)/journal")
        let running = Task { try await transfer(SparseDisk(free: 3_000_000)).fetch(request) { _ in } }
        await gate.reached()
        while try LocalFileSystem().status(at: journal) == nil { await Task.yield() }
        gate.open()
        let error = await #expect(throws: FileError.self) { try await running.value }
        #expect(error?.code == .diskFull)
        let file = try await transfer(LocalFileSystem()).fetch(request) { _ in }
        #expect(file.digest == request.digest)
        #expect(file.fetchedBytes < Self.content.count, "what had come was kept")
    }
}
