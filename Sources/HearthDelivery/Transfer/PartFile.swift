import Foundation
import HearthBase

/// The file of a transfer while it grows: written wherever bytes belong, hashed as it is written, recorded in a journal.
///
/// It writes on a thread of its own, hashes on a second and brings bytes to the disk on a third, so that neither the
/// processor nor a slow disk stops the network.
actor PartFile {
    /// How many times ``TransferTuning/recordBytes`` may arrive while a record is on its way, before the network has to
    /// wait for the disk. A file ends on the disk anyway, so on a slow one nothing is lost by waiting early.
    private static let recordsBehind: UInt64 = 4
    /// Fewer bytes are not worth a write past the page cache.
    private static let worthwhileUncached = 64 << 10

    private let executor = ThreadExecutor(name: "hearth.part-file")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let fileSystem: any FileSystem
    private let file: OpenFile
    private let journalPath: Path
    private let tuning: TransferTuning
    private let stopwatch: Stopwatch
    private let ledger: Locked<PartLedger>
    private let verifier: PartVerifier

    /// Counts restarts.
    private(set) var epoch = 0
    private var journal: TransferJournal
    private var recorded: RangeSet<UInt64>
    private var notes: WrittenNotes?
    private var releasedEnd: UInt64
    /// What has come and is not written yet; used where each chunk is checked by itself.
    private var gatherer: WriteGatherer
    /// The same file past the page cache, while that pays.
    private var uncached: OpenFile?
    private var trial = UncachedTrial()
    private var unrecordedBytes: UInt64 = 0
    private var lastCheckpoint = Duration.zero
    private var checkpoint: Task<TransferJournal, any Error>?
    /// Why bytes of this file may never reach the disk, although the next attempt to bring them there will say they did:
    /// a system forgets what it could not write back. Nothing is recorded any more after that.
    private var loss: (any Error)?
    /// Why nothing more may be written.
    private var shortage: DeliveryError?

    /// Opens or creates the part file of a request in `folder`, and takes over what its journal vouches for. Blocks.
    ///
    /// - Parameter wanted: told of a chunk that turned out to be wrong and has to be fetched again, on any thread.
    init(
        _ request: TransferRequest, in folder: Path, fileSystem: any FileSystem, time: TimeSource,
        tuning: TransferTuning, wanted: @escaping @Sendable (_ chunk: Int, Range<UInt64>) -> Void
    ) throws {
        self.fileSystem = fileSystem
        self.tuning = tuning
        journalPath = folder.appending("journal")
        stopwatch = time.stopwatch()
        file = try fileSystem.open(folder.appending("data.part"), .readWrite)
        let noted = try WrittenRecord.find(
            in: folder, of: try fileSystem.status(of: file), digest: request.digest, fileSystem: fileSystem)
        (journal, recorded) = try Self.takeOver(request, file, journalPath, noted: noted, fileSystem)
        let held = recorded.union(noted)
        notes = WrittenNotes(request, of: file, in: folder, holding: held, fileSystem: fileSystem)
        releasedEnd = tuning.cachedBytes
        gatherer = WriteGatherer(for: file.path)
        if request.index != nil, request.size.estimate > tuning.cachedBytes {
            uncached = Self.openUncached(file.path, fileSystem)
        }
        var ledger = PartLedger(index: request.index)
        let checks = held.ranges.flatMap { ledger.wrote($0) }.map { ledger.check(ofChunk: $0) }
        let frontier = ledger.frontier
        self.ledger = Locked(ledger)
        verifier = PartVerifier(
            file, uncached: uncached, pool: gatherer.pool, fileSystem: fileSystem, ledger: self.ledger, wanted: wanted)
        verifier.check(checks)
        verifier.extend(to: frontier)
        verifier.start()
    }

    deinit { verifier.close() }

    /// Many file systems have no such thing; then everything goes through the page cache.
    private static func openUncached(_ path: Path, _ fileSystem: any FileSystem) -> OpenFile? {
        do {
            return try fileSystem.open(path, .uncached)
        } catch {
            Log.write(.debug, "delivery.transfer", "no way past the page cache: \(error)")
            return nil
        }
    }

    /// What may be there already, by the journal or, if that was lost, by the part file itself.
    private static func takeOver(
        _ request: TransferRequest, _ file: OpenFile, _ path: Path, noted: RangeSet<UInt64>,
        _ fileSystem: any FileSystem
    ) throws -> (TransferJournal, RangeSet<UInt64>) {
        let empty = TransferJournal(
            digest: request.digest, size: request.size.exact, location: request.locations.first?.withoutQuery ?? "")
        let size = try fileSystem.status(of: file).size
        switch try TransferJournal.find(path, in: fileSystem) {
        case .sound(let found):
            let fits = found.describes(request) && found.held.ranges.last?.upperBound ?? 0 <= size
            return fits ? (found, found.held) : (empty, RangeSet())
        case .damaged:
            // Only a digest can tell whether these are the right bytes, of each chunk or of the whole.
            guard request.digest != nil, size > 0, size <= request.size.limit else { return (empty, RangeSet()) }
            var adopted = empty
            adopted.isAdopted = true
            Log.write(
                .warning, "delivery.transfer", "\(request.label): no journal; the bytes that are there are checked")
            guard noted.isEmpty else { return (adopted, noted) }
            return (
                adopted, RangeSet(try fileSystem.dataRanges(of: file).compactMap { Self.wholeBlocks(of: $0, in: size) })
            )
        case .absent:
            return (empty, RangeSet())
        }
    }

    /// What of a range without holes is written to the last byte: where a connection was cut, the file system counts the block as
    /// written that was begun. One wrong byte would cost a file without an index all the others.
    static func wholeBlocks(of range: Range<UInt64>, in size: UInt64) -> Range<UInt64>? {
        let start = range.lowerBound == 0 ? 0 : range.lowerBound + blockSize
        let end = range.upperBound >= size ? size : range.upperBound - min(blockSize, range.upperBound)
        return start < end ? start..<end : nil
    }

    private static let blockSize = UInt64(OpenFile.uncachedAlignment)

    // MARK: What is here

    /// What of the file is written.
    nonisolated var held: RangeSet<UInt64> { ledger.withLock { $0.written } }
    /// How many bytes of it are written.
    nonisolated var heldCount: UInt64 { ledger.withLock { $0.writtenCount } }

    /// How many bytes of it are here and need not be read again.
    nonisolated var checkedCount: UInt64 {
        let hashed = verifier.position
        return ledger.withLock { $0.checkedCount(hashed: hashed) }
    }

    /// The strong entity tag of the bytes, where the place they came from has this address.
    func entityTag(of location: String) -> String? { journal.location == location ? journal.entityTag : nil }

    /// Whether bytes were taken over that no journal vouches for.
    var isAdopted: Bool { journal.isAdopted ?? false }

    // MARK: Growing

    /// Begins to fetch from a place: notes what the bytes belong to and reserves the space they need.
    func begin(total: UInt64?, entityTag: String?, location: String) throws {
        journal.entityTag = entityTag
        journal.location = location
        guard let total else { return }
        journal.size = total
        guard try fileSystem.status(of: file).size < total else { return }
        do {
            try fileSystem.allocate(file, size: total)
        } catch {
            // A reservation that failed half-way would keep the disk full.
            try fileSystem.truncate(file, to: held.ranges.last?.upperBound ?? 0)
            throw error
        }
    }

    /// Writes bytes to their place, now or with those that follow; what is proven already stays as it is.
    /// - Parameter epoch: the ``epoch`` in which the bytes were asked for; older ones are void.
    func write(_ bytes: [UInt8], at offset: UInt64, epoch: Int) async throws {
        guard epoch == self.epoch else { return }
        if let loss { throw loss }
        if let shortage { throw shortage }
        if ledger.withLock({ $0.isIndexed }) {
            let now = stopwatch.elapsed
            let ready = try bytes.withUnsafeBytes {
                try gatherer.add($0, at: offset, now: now, patience: tuning.recordInterval)
            }
            for run in ready { try put(run) }
        } else {
            let range = offset..<offset + UInt64(bytes.count)
            try bytes.withUnsafeBytes { buffer in
                for part in ledger.withLock({ $0.writable(range) }) {
                    let (start, end) = (Int(part.lowerBound - offset), Int(part.upperBound - offset))
                    try fileSystem.write(
                        file, UnsafeRawBufferPointer(rebasing: buffer[start..<end]), at: part.lowerBound)
                }
            }
            note(range)
        }
        startCheckpointIfDue()
        verifier.waitForRoom()
        if unrecordedBytes >= Self.recordsBehind * tuning.recordBytes { _ = await checkpoint?.result }
    }

    /// Writes what has come and still waits for what follows it.
    func flush() throws {
        for run in gatherer.takeAll() { try put(run) }
    }

    /// Writes a run, and has it hashed while it is in memory.
    private func put(_ run: WriteRun) throws {
        let parts = ledger.withLock { $0.writable(run.bytes) }
        for part in parts { try write(part, of: run) }
        let slices = ledger.withLock { $0.slices(of: run.bytes) }
        verifier.waitForRoom()
        verifier.take(run, slices, isWhole: parts == [run.bytes])
        note(run.bytes)
    }

    private func write(_ part: Range<UInt64>, of run: WriteRun) throws {
        guard let uncached, let middle = WriteRun.uncachedPart(of: part, behind: tuning.cachedBytes),
            middle.count >= Self.worthwhileUncached
        else { return try fileSystem.write(file, run.memory(part), at: part.lowerBound) }
        if middle.lowerBound > part.lowerBound {
            try fileSystem.write(file, run.memory(part.lowerBound..<middle.lowerBound), at: part.lowerBound)
        }
        let begun = stopwatch.elapsed
        do {
            try fileSystem.write(uncached, run.memory(middle), at: middle.lowerBound)
            trial.wrote(middle.count, in: stopwatch.elapsed - begun)
            if !trial.pays { self.uncached = nil }
        } catch let error as FileError where error.context.found == "errno \(EINVAL)" {
            // Opened, and not meant: some file systems find out late.
            self.uncached = nil
            try fileSystem.write(file, run.memory(middle), at: middle.lowerBound)
        }
        if middle.upperBound < part.upperBound {
            try fileSystem.write(file, run.memory(middle.upperBound..<part.upperBound), at: middle.upperBound)
        }
    }

    /// Notes bytes that are written.
    private func note(_ range: Range<UInt64>) {
        let (checks, frontier) = ledger.withLock { ledger in
            (ledger.wrote(range).map { ledger.check(ofChunk: $0) }, ledger.frontier)
        }
        verifier.check(checks)
        verifier.extend(to: frontier)
        unrecordedBytes += UInt64(range.count)
        notes?.came(UInt64(range.count)) { held }
    }

    /// Forgets every byte that is not proven, and those that are still on their way.
    func restart() async throws {
        epoch += 1
        _ = gatherer.takeAll()
        // A checkpoint on its way would vouch for bytes that are void now.
        try await endCheckpoints()
        try notes?.clear()
        let (kept, frontier) = ledger.withLock { ledger in
            ledger.forgetUnproven()
            return (ledger.written, ledger.frontier)
        }
        verifier.restart(at: frontier)
        unrecordedBytes = 0
        journal.entityTag = nil
        journal.isAdopted = nil
        journal.held = kept
        try commit(journal)
    }

    // MARK: Ending

    /// Ends all checking at once, since nobody wants the file now; what is written can still be recorded.
    nonisolated func abandon() { verifier.close() }

    /// Waits until every chunk that is here is checked and the bytes without a gap are hashed.
    /// - Throws: what reading the file threw; `CancellationError` once it is abandoned.
    func settle() async throws {
        try flush()
        try await verifier.settle()
    }

    /// Records everything written so far. Called at every end, good or bad, so that no byte is fetched twice.
    func record() async throws {
        try flush()
        // A checkpoint on its way holds an older state, perhaps with bytes that turned out to be wrong since; whether its
        // journal could be written shows here again.
        try await endCheckpoints()
        let next = journalUpToNow
        guard next.held != recorded else { return }
        try commit(next)
    }

    /// Returns when no checkpoint is on its way.
    private func endCheckpoints() async throws {
        while let running = checkpoint {
            let result = await running.result
            guard checkpoint == running else { continue }
            checkpoint = nil
            switch result {
            case .success(let committed): ended(committed)
            case .failure(let error): note(error)
            }
        }
        if let loss { throw loss }
    }

    private func commit(_ next: TransferJournal) throws {
        do {
            try Self.commit(next, file, journalPath, fileSystem)
        } catch {
            note(error)
            throw loss ?? error
        }
        ended(next)
    }

    private func note(_ error: any Error) {
        guard let unsafe = error as? NotOnDisk else { return }
        loss = unsafe.cause
        do {
            try notes?.clear()
        } catch {
            // A disk that takes nothing any more; what is taken over from it is checked in any case.
            Log.write(.warning, "delivery.transfer", "what was written and lost stays noted: \(error)")
        }
        notes = nil
    }

    /// Ends the file at its length: brings it to the disk, and says what it hashes to. With an index every chunk of it was
    /// checked, which vouches for the promised digest.
    func finish(at size: UInt64) async throws -> SHA256Digest {
        try flush()
        if try fileSystem.status(of: file).size != size { try fileSystem.truncate(file, to: size) }
        journal.size = size
        try await record()
        try await verifier.settle()
        if ledger.withLock({ $0.isIndexed }), let promised = journal.digest { return promised }
        return try await verifier.digest()
    }

    private var journalUpToNow: TransferJournal {
        var next = journal
        next.held = held
        return next
    }

    private func startCheckpointIfDue() {
        guard checkpoint == nil, loss == nil, unrecordedBytes > 0 else { return }
        let isDue =
            unrecordedBytes >= tuning.recordBytes || stopwatch.elapsed - lastCheckpoint >= tuning.recordInterval
        guard isDue else { return }
        unrecordedBytes = 0
        let next = journalUpToNow
        let task = Task { [file, journalPath, fileSystem] in
            try await blocking { try Self.commit(next, file, journalPath, fileSystem) }
            return next
        }
        checkpoint = task
        Task { self.checkpointEnded(task, await task.result) }
    }

    private func checkpointEnded(_ task: Task<TransferJournal, any Error>, _ result: Result<TransferJournal, any Error>)
    {
        guard checkpoint == task else { return }
        checkpoint = nil
        lastCheckpoint = stopwatch.elapsed
        switch result {
        case .success(let committed):
            ended(committed)
            checkStorage()
        case .failure(let error):
            note(error)
            Log.write(.warning, "delivery.transfer", "could not record progress: \(loss ?? error)")
        }
        // What came meanwhile may be due already, and who knows when the next byte comes.
        startCheckpointIfDue()
    }

    /// Where space could not be reserved, others may take it while bytes come.
    private func checkStorage() {
        guard shortage == nil, let total = journal.size else { return }
        do {
            let policy = StoragePolicy(total: total, held: try fileSystem.status(of: file).allocatedSize)
            guard policy.required > 0 else { return }
            let free = try fileSystem.freeSpace(at: journalPath.parent)
            if case .refused(let required) = policy.verdict(free: free) {
                shortage = .shortage(in: journalPath.parent, required: required, free: free)
            }
        } catch {
            Log.write(.warning, "delivery.transfer", "the free space is not known any more: \(error)")
        }
    }

    private func ended(_ committed: TransferJournal) {
        recorded = committed.held
        let hashed = verifier.position
        let end = min(recorded.prefixEnd, ledger.withLock { $0.settledEnd(hashed: hashed) })
        guard end > releasedEnd else { return }
        fileSystem.releaseCache(file, releasedEnd..<end)
        releasedEnd = end
    }

    /// Data first, then the record that points at it.
    private static func commit(
        _ journal: TransferJournal, _ file: OpenFile, _ path: Path, _ fileSystem: any FileSystem
    ) throws {
        do {
            try fileSystem.synchronize(file)
        } catch {
            throw NotOnDisk(cause: error)
        }
        try journal.write(path, in: fileSystem)
    }

    private struct NotOnDisk: Error {
        let cause: any Error
    }
}
