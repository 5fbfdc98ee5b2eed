import Foundation
import HearthBase

/// The file of a transfer while it grows: written in order, written as it is written, recorded in a journal.
///
/// It writes on a thread of its own, hashes on a second and brings bytes to the disk on a third, so that neither the
/// processor nor a slow disk stops the network.
actor PartFile {
    /// New bytes are recorded after this many, or after ``checkpointInterval``.
    private static let checkpointBytes: UInt64 = 16 << 20
    private static let checkpointInterval = Duration.milliseconds(200)
    /// What stays in the page cache of a file that is on the disk: what an engine reads first. The rest would push out
    /// what other apps have there, and waiting for fresh memory costs more than writing.
    private static let cachedPrefix: UInt64 = 128 << 20

    private let executor = ThreadExecutor(name: "hearth.part-file")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let fileSystem: any FileSystem
    private let file: OpenFile
    private let journalPath: Path
    private let limit: UInt64
    private let stopwatch: Stopwatch

    private var journal: TransferJournal
    private var hash = HashingPump()
    private var written: UInt64 = 0
    private var recorded: UInt64
    private var lastCheckpoint = Duration.zero
    private var checkpoint: Task<TransferJournal, any Error>?

    /// The bytes of the file from the first on that are written.
    var length: UInt64 { written }
    /// The strong entity tag the bytes belong to.
    var entityTag: String? { journal.entityTag }

    /// Opens or creates the part file of a request in `folder`; what a journal does not vouch for is void.
    init(_ request: TransferRequest, in folder: Path, fileSystem: any FileSystem, time: TimeSource) throws {
        self.fileSystem = fileSystem
        journalPath = folder.appending("journal")
        limit = request.size.limit
        stopwatch = time.stopwatch()
        file = try fileSystem.open(folder.appending("data.part"), .readWrite)
        let empty = TransferJournal(
            digest: request.digest, size: request.size.exact, location: request.locations.first?.withoutQuery ?? "")
        let found = try TransferJournal.read(journalPath, in: fileSystem)
        journal = found.flatMap { $0.describes(request) ? $0 : nil } ?? empty
        if journal.prefix > (try fileSystem.status(of: file).size) { journal = empty }
        recorded = journal.prefix
    }

    /// Hashes what is there from earlier times, telling how far it is; reads at memory speed, nothing is fetched.
    func rehash(_ progress: (UInt64) -> Void) async throws {
        while written < recorded {
            try Task.checkCancellation()
            let wanted = Int(min(1 << 20, recorded - written))
            let bytes = try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                count = try fileSystem.read(file, into: UnsafeMutableRawBufferPointer(buffer), at: written)
            }
            guard !bytes.isEmpty else { return try await restart() }
            hash.add(bytes)
            written += UInt64(bytes.count)
            progress(written)
        }
    }

    /// Begins a response: notes what it belongs to and reserves the space it needs.
    func begin(total: UInt64?, entityTag: String?) throws {
        journal.entityTag = entityTag
        journal.size = total ?? journal.size
        guard let total else { return }
        do {
            try fileSystem.allocate(file, size: total)
        } catch {
            // A reservation that failed half-way would keep the disk full.
            try fileSystem.truncate(file, to: written)
            throw error
        }
    }

    /// Adds the next bytes of the file.
    /// - Throws: ``TransferError`` with `response-too-long` past the limit, ``FileError``.
    func append(_ bytes: [UInt8], label: String) throws {
        let room = limit - written
        let accepted = UInt64(bytes.count) <= room ? bytes : Array(bytes.prefix(Int(room)))
        try accepted.withUnsafeBytes { try fileSystem.write(file, $0, at: written) }
        hash.add(accepted)
        written += UInt64(accepted.count)
        guard accepted.count == bytes.count else {
            throw TransferError(
                .responseTooLong, "the server sent more than the promised bytes of \(label)",
                context: ErrorContext(file: label, expected: "at most \(limit) bytes"))
        }
        startCheckpointIfDue()
    }

    /// Forgets every byte: the next response begins at the first.
    func restart() async throws {
        // A checkpoint on its way would vouch for bytes that are void now.
        _ = await checkpoint?.result
        checkpoint = nil
        hash = HashingPump()
        written = 0
        recorded = 0
        journal.extents = []
        journal.entityTag = nil
        try journal.write(journalPath, in: fileSystem)
    }

    /// Records everything written so far. Called at every end, good or bad, so that no byte is fetched twice.
    func record() async throws {
        // A checkpoint on its way holds an older state; its failure repeats itself here.
        _ = await checkpoint?.result
        checkpoint = nil
        guard written > recorded else { return }
        let next = journalUpToNow
        try Self.commit(next, file, journalPath, fileSystem)
        journal = next
        recorded = written
    }

    /// Ends the file: cuts off reserved space, brings it to the disk, and says what the bytes hash to.
    func finish() async throws -> SHA256Digest {
        try fileSystem.truncate(file, to: written)
        journal.size = written
        try await record()
        return await hash.digest()
    }

    private var journalUpToNow: TransferJournal {
        var next = journal
        next.extents = [TransferJournal.Extent(start: 0, end: written)]
        return next
    }

    private func startCheckpointIfDue() {
        guard checkpoint == nil, written > recorded else { return }
        let isDue =
            written - recorded >= Self.checkpointBytes || stopwatch.elapsed - lastCheckpoint >= Self.checkpointInterval
        guard isDue else { return }
        let next = journalUpToNow
        let task = Task { [file, journalPath, fileSystem] in
            try await blocking { try Self.commit(next, file, journalPath, fileSystem) }
            return next
        }
        checkpoint = task
        Task { self.checkpointEnded(await task.result) }
    }

    private func checkpointEnded(_ result: Result<TransferJournal, any Error>) {
        guard checkpoint != nil else { return }
        checkpoint = nil
        lastCheckpoint = stopwatch.elapsed
        switch result {
        case .success(let committed): recorded = max(recorded, committed.prefix)
        case .failure(let error): Log.write(.warning, "delivery.transfer", "could not record progress: \(error)")
        }
    }

    /// Data first, then the record that points at it.
    private static func commit(
        _ journal: TransferJournal, _ file: OpenFile, _ path: Path, _ fileSystem: any FileSystem
    ) throws {
        try fileSystem.synchronize(file)
        if journal.prefix > cachedPrefix { fileSystem.releaseCache(file, cachedPrefix..<journal.prefix) }
        try journal.write(path, in: fileSystem)
    }
}
