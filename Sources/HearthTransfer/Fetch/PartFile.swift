import Foundation
import HearthBase

/// The growing file of a transfer: bytes are written at their place, hashed on the way and recorded in a journal.
///
/// Writing, hashing and synchronizing with the disk have a thread each, so that neither the processor nor a slow disk
/// stops the network.
actor PartFile {
    /// How many times ``TransferTuning/recordBytes`` may arrive during one record before the network has to wait for
    /// the disk. All bytes must reach the disk anyway, so waiting early costs nothing.
    private static let recordsBehind: UInt64 = 4
    /// The fewest bytes worth a write past the page cache.
    private static let worthwhileUncached = 64 << 10

    private let executor = ThreadExecutor(name: "hearth.part-file")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let fileSystem: any FileSystem
    private let file: OpenFile
    private let journalPath: Path
    private let tuning: TransferTuning
    private let isSynced: Bool
    private let stopwatch: Stopwatch
    private let ledger: Locked<PartLedger>
    private let verifier: PartVerifier

    /// Counts restarts.
    private(set) var epoch = 0
    private var journal: TransferJournal
    private var recorded: RangeSet<UInt64>
    private var releasedEnd: UInt64
    /// Received bytes that are not written yet; used only with a chunk index.
    private var gatherer: WriteGatherer
    /// The same file, opened to bypass the page cache; `nil` where that does not pay.
    private var uncached: OpenFile?
    private var trial = UncachedTrial()
    private var unrecordedBytes: UInt64 = 0
    private var lastCheckpoint = Duration.zero
    private var checkpoint: Task<TransferJournal, any Error>?
    /// Set when bytes could not be brought to the disk. The next attempt would wrongly succeed, because a system
    /// forgets pages that it could not write. Nothing is recorded after that.
    private var loss: (any Error)?
    /// Set when too little space is free; nothing is written after that.
    private var shortage: FileError?

    /// Opens or creates a request's part file in `folder`, with the bytes of its journal and its seeds. Blocks.
    ///
    /// - Parameters:
    ///   - flag: stops the copying of seeds.
    ///   - wanted: called on any thread for each wrong chunk, which has to be fetched again.
    init(
        _ request: TransferRequest, in folder: Path, fileSystem: any FileSystem, time: TimeSource,
        tuning: TransferTuning, flag: StopFlag = StopFlag(),
        wanted: @escaping @Sendable (_ chunk: Int, Range<UInt64>) -> Void
    ) throws {
        self.fileSystem = fileSystem
        self.tuning = tuning
        isSynced = request.isSynced
        journalPath = folder.appending("journal")
        stopwatch = time.stopwatch()
        file = try fileSystem.open(folder.appending("data.part"), .readWrite)
        let contents = try PartContents(
            of: request, file, journal: journalPath, fileSystem: fileSystem, flag: flag)
        journal = contents.journal
        recorded = contents.recorded
        releasedEnd = tuning.cachedBytes
        gatherer = WriteGatherer(for: file.path)
        if request.index != nil, request.size.estimate > tuning.cachedBytes {
            uncached = Self.openUncached(file.path, fileSystem)
        }
        var ledger = PartLedger(index: request.index)
        let checks = contents.held.ranges.flatMap { ledger.wrote($0) }.map { ledger.check(ofChunk: $0) }
        let frontier = ledger.frontier
        self.ledger = Locked(ledger)
        verifier = PartVerifier(
            file, uncached: uncached, pool: gatherer.pool, fileSystem: fileSystem, ledger: self.ledger, wanted: wanted)
        verifier.check(checks)
        verifier.extend(to: frontier)
        verifier.start()
    }

    deinit { verifier.close() }

    /// Opens the file to bypass the page cache; `nil` where the file system cannot.
    private static func openUncached(_ path: Path, _ fileSystem: any FileSystem) -> OpenFile? {
        do {
            return try fileSystem.open(path, .uncached)
        } catch {
            Log.write(.debug, "no way past the page cache: \(error)")
            return nil
        }
    }

    // MARK: Written bytes

    /// The written bytes.
    package nonisolated var held: RangeSet<UInt64> { ledger.withLock { $0.written } }
    /// The number of written bytes.
    nonisolated var heldCount: UInt64 { ledger.withLock { $0.writtenCount } }

    /// The number of written bytes that need not be read again.
    nonisolated var checkedCount: UInt64 {
        let hashed = verifier.position
        return ledger.withLock { $0.checkedCount(hashed: hashed) }
    }

    /// The strong entity tag of the bytes; `nil` if they came from another address.
    func entityTag(of location: String) -> String? { journal.location == location ? journal.entityTag : nil }

    /// Whether bytes were adopted without a journal.
    var isAdopted: Bool { journal.isAdopted ?? false }

    // MARK: Growing

    /// Notes the file's length, entity tag and address, and reserves its space.
    package func begin(total: UInt64?, entityTag: String?, location: String) throws {
        journal.entityTag = entityTag
        journal.location = location
        guard let total else { return }
        journal.size = total
        guard try fileSystem.status(of: file).size < total else { return }
        do {
            try fileSystem.allocate(file, size: total)
        } catch {
            // A reservation that failed half-way would still occupy the disk.
            try fileSystem.truncate(file, to: held.ranges.last?.upperBound ?? 0)
            throw error
        }
    }

    /// Writes bytes to their place, at once or together with the bytes that follow; proven bytes are not overwritten.
    /// - Parameter epoch: the ``epoch`` of the request for the bytes; bytes of an older one are ignored.
    package func write(_ bytes: [UInt8], at offset: UInt64, epoch: Int) async throws {
        guard epoch == self.epoch else { return }
        if let loss { throw loss }
        if let shortage { throw shortage }
        if ledger.withLock({ $0.isIndexed }) {
            let now = stopwatch.elapsed
            let ready = try bytes.withUnsafeBytes {
                try gatherer.add($0, at: offset, now: now, limit: tuning.recordInterval)
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

    /// Writes all gathered bytes.
    package func flush() throws {
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
        } catch let error as FileError where error.isSystemError(EINVAL) {
            // Some file systems accept the opening and refuse the write.
            self.uncached = nil
            try fileSystem.write(file, run.memory(middle), at: middle.lowerBound)
        }
        if middle.upperBound < part.upperBound {
            try fileSystem.write(file, run.memory(middle.upperBound..<part.upperBound), at: middle.upperBound)
        }
    }

    /// Notes written bytes, and has the chunks checked that became whole.
    private func note(_ range: Range<UInt64>) {
        let (checks, frontier) = ledger.withLock { ledger in
            (ledger.wrote(range).map { ledger.check(ofChunk: $0) }, ledger.frontier)
        }
        verifier.check(checks)
        verifier.extend(to: frontier)
        unrecordedBytes += UInt64(range.count)
    }

    /// Forgets every unproven byte; bytes still arriving are ignored.
    func restart() async throws {
        epoch += 1
        _ = gatherer.takeAll()
        // A running checkpoint would record bytes that are void now.
        try await endCheckpoints()
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

    /// Ends all checks at once after a cancellation; written bytes can still be recorded.
    package nonisolated func abandon() { verifier.close() }

    /// Waits until every whole chunk is checked, and the file is hashed up to its first gap.
    /// - Throws: the error of reading the file; `CancellationError` after ``abandon()``.
    package func settle() async throws {
        try flush()
        try await verifier.settle()
    }

    /// Records everything written so far. Called after success and failure, so that no byte is fetched twice. A full disk
    /// that cannot take the gathered bytes keeps those before them.
    package func record() async throws {
        let flushing = Result { try flush() }
        try await recordWritten()
        try flushing.get()
    }

    private func recordWritten() async throws {
        // A running checkpoint holds an older state, perhaps with bytes found wrong since. If its journal could not be
        // written, writing it here fails too.
        try await endCheckpoints()
        let next = journalUpToNow
        guard next.held != recorded else { return }
        try commit(next)
    }

    /// Waits until no checkpoint is running.
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
            try Self.commit(next, file, journalPath, fileSystem, isSynced: isSynced)
        } catch {
            note(error)
            throw loss ?? error
        }
        ended(next)
    }

    private func note(_ error: any Error) {
        guard let unsafe = error as? NotOnDisk else { return }
        loss = unsafe.cause
    }

    /// Cuts the file to its length, brings it to the disk and returns its digest. With an index, the checked chunks
    /// vouch for the promised digest.
    package func finish(at size: UInt64) async throws -> SHA256Digest {
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
        if !isSynced { next.isAdopted = true }
        return next
    }

    private func startCheckpointIfDue() {
        guard checkpoint == nil, loss == nil, unrecordedBytes > 0 else { return }
        let isDue =
            unrecordedBytes >= tuning.recordBytes || stopwatch.elapsed - lastCheckpoint >= tuning.recordInterval
        guard isDue else { return }
        unrecordedBytes = 0
        let next = journalUpToNow
        let task = Task { [file, journalPath, fileSystem, isSynced] in
            try await blocking { try Self.commit(next, file, journalPath, fileSystem, isSynced: isSynced) }
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
            Log.write(.warning, "could not record progress: \(loss ?? error)")
        }
        // Bytes that came meanwhile may be due already, and the next byte may come late.
        startCheckpointIfDue()
    }

    /// Checks the free space: without a reservation, other programs may use it during the download.
    private func checkStorage() {
        guard shortage == nil, let total = journal.size else { return }
        do {
            let policy = StoragePolicy(total: total, held: try fileSystem.status(of: file).allocatedSize)
            guard policy.required > 0 else { return }
            let free = try fileSystem.freeSpace(at: journalPath.parent)
            guard !policy.allows(free: free) else { return }
            shortage = .shortage(in: journalPath.parent, required: policy.required, free: free)
        } catch {
            Log.write(.warning, "the free space is not known any more: \(error)")
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

    /// Brings the data to the disk, then the journal that names it; unless the digest is to tell after a power cut.
    private static func commit(
        _ journal: TransferJournal, _ file: OpenFile, _ path: Path, _ fileSystem: any FileSystem, isSynced: Bool
    ) throws {
        do {
            if isSynced { try fileSystem.synchronize(file) }
        } catch {
            throw NotOnDisk(cause: error)
        }
        try journal.write(path, in: fileSystem, isSynced: isSynced)
    }

    private struct NotOnDisk: Error {
        let cause: any Error
    }
}
