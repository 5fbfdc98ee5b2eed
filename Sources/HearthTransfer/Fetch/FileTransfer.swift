import Foundation
import HearthBase
import HearthHTTP

/// Fetches one file: resumes an earlier attempt, checks every byte, and keeps received bytes when it stops.
///
/// ```
/// <folder>/<key>/      key: the digest, or a hash of the address for a file without one
///     data.part        the bytes, in place
///     journal          the bytes that are on the disk, and the file they belong to
///     lock, lease      held while a process works here; see ``TransferLock``
/// ```
package struct FileTransfer: Sendable {
    private let http: any HTTPClient
    package let fileSystem: any FileSystem
    private let time: TimeSource
    private let folder: Path
    private let tuning: TransferTuning
    private let provider: (any DownloadURLProvider)?
    private let mirror: SiteMirror?
    private let network: (any NetworkMonitor)?
    private let pulse: TimeSource
    private let connections: ConnectionBudget

    /// Creates a transfer whose part files lie below `folder`.
    /// - Parameters:
    ///   - provider: turns catalog addresses into the ones to request; `nil` uses them unchanged.
    ///   - mirror: asked before the origin for public files that nothing else gives addresses of; `nil` for none.
    ///   - network: tells whether the request's rules allow the network now; `nil` always allows it.
    ///   - pulse: measures the time between two readings while no bytes come.
    ///   - connections: shared by all files of this transfer.
    package init(
        http: any HTTPClient, fileSystem: any FileSystem, time: TimeSource, folder: Path,
        tuning: TransferTuning = TransferTuning(), provider: (any DownloadURLProvider)? = nil,
        mirror: SiteMirror? = nil, network: (any NetworkMonitor)? = nil, pulse: TimeSource = .system,
        connections: ConnectionBudget = ConnectionBudget()
    ) {
        self.http = http
        self.fileSystem = fileSystem
        self.time = time
        self.folder = folder
        self.tuning = tuning
        self.provider = provider
        self.mirror = mirror
        self.network = network
        self.pulse = pulse
        self.connections = connections
    }

    /// Fetches the missing bytes of a file and checks the whole, under a lock that the caller holds and renews.
    ///
    /// Cancelling keeps the received bytes; the next call continues after them. Bytes of an earlier attempt are read
    /// again first, in the state `verifying`; cancelling does not wait for that. Broken connections are retried: a few
    /// times in a row without progress, without limit while bytes come. Wrong bytes are removed and fetched again,
    /// three attempts in all, from the next source if there is one. While the network may not be used, the call waits.
    /// - Throws: ``TransferError``, `HTTPError`, `CancellationError`; `FileError`, with `disk-full` if the disk fills
    ///   up during the download; `DigestError` if this system cannot compute the promised digest.
    package func fetch(
        _ request: TransferRequest, under lock: TransferLock, _ reporter: ProgressReporter
    ) async throws -> TransferredFile {
        let place = try self.place(of: request)
        guard let network else { return try await fetchChecked(request, at: place, reporter) }
        let gate = NetworkGate(policy: NetworkPolicy(metered: request.metered), monitor: network, time: time)
        return try await gate.whileAllowed(locations: request.locations) { hold in
            lock.tell(hold.map(DownloadHold.init))
            guard let hold = hold.map(DownloadHold.init) else { return }
            Log.write(.info, "\(request.label) waits: \(hold.message)")
            // Bytes that cannot be counted now are counted when they are checked.
            let held = (try? recordedBytes(of: request)) ?? 0
            reporter.report(.waiting(hold), holding: held, of: request.size.exact)
        } body: {
            try await fetchChecked(request, at: place, reporter)
        }
    }

    /// Fetches the file until its bytes are the promised ones or the ``RetryBudget`` is spent.
    private func fetchChecked(
        _ request: TransferRequest, at place: Path, _ reporter: ProgressReporter
    ) async throws -> TransferredFile {
        var request = request
        if request.digest == nil || request.size.exact != request.index?.fileSize { request.index = nil }
        if let mirror = mirror?.address(of: request), provider?.provides(for: request.locations[0]) != true {
            request.locations.insert(mirror, at: 0)
            request.hasMirror = true
        }
        var budget = RetryBudget()
        var fetched: UInt64 = 0
        var isRaced = true
        while true {
            var (file, isAdopted) = try await fetchMissing(request, at: place, isRaced: isRaced, budget, reporter)
            fetched += file.fetchedBytes
            file.fetchedBytes = fetched
            try await refusePointer(file, of: request, at: place)
            guard let difference = try await difference(of: file, from: request) else { return file }
            try await discardPart(at: place)
            // Wrong bytes that were adopted without a journal are not the server's fault and cost no attempt.
            if isAdopted { continue }
            if request.hasMirror {
                // Nor are those of a mirror: the origin is asked for all of them.
                request.hasMirror = false
                request.locations.removeFirst()
                continue
            }
            guard let pause = budget.wrongFile() else { throw Self.corrupted(request, difference) }
            Log.write(.info, "\(request.label): bytes differ; again after \(pause)")
            let state = TransferState.retrying(attempt: budget.wrongFiles + 1, limit: RetryBudget.maximumAttempts)
            reporter.report(state, holding: 0, of: request.size.exact)
            try await time.sleep(for: pause)
            // With several sources it is unknown which one sent wrong bytes. From now on, one source brings the whole
            // file.
            isRaced = false
            request.locations.append(request.locations.removeFirst())
        }
    }

    /// Refuses a pointer of Git LFS at once. By its digest it would be fetched three times, or be installed if the
    /// publisher took the digest of the pointer.
    private func refusePointer(_ file: TransferredFile, of request: TransferRequest, at place: Path) async throws {
        guard file.size <= TransferError.maximumPointerSize else { return }
        let bytes = try await blocking { [fileSystem] in
            try fileSystem.contents(ofFile: file.path, limit: Int(TransferError.maximumPointerSize))
        }
        guard let error = TransferError(pointer: bytes, of: request, at: request.locations.first) else { return }
        try await discardPart(at: place)
        throw error
    }

    /// Compares a whole file with the digest that the request promises.
    /// - Returns: `nil` if they match, or no digest is promised.
    /// - Throws: `FileError`; `DigestError` if this system cannot compute a git blob.
    private func difference(of file: TransferredFile, from request: TransferRequest) async throws -> Difference? {
        if let digest = request.digest {
            return digest == file.digest ? nil : (digest.hex, file.digest.hex)
        }
        guard let blob = request.gitBlob else { return nil }
        let found = try await StopFlag.blocking { [fileSystem] flag in
            try FilePump(fileSystem: fileSystem, flag: flag).gitBlob(of: file.path)
        }
        // Also refuses a file that changed after it was written.
        let isRight = found.blob == blob && found.digest == file.digest
        return isRight ? nil : (blob.hex, found.blob.hex)
    }

    /// Fetches the missing bytes, without checking the digest of the whole.
    /// - Parameter isRaced: whether all sources are used at a time; otherwise one, and the next when that fails.
    /// - Returns: the file, and whether some bytes were adopted without a journal.
    private func fetchMissing(
        _ request: TransferRequest, at place: Path, isRaced: Bool, _ budget: RetryBudget, _ reporter: ProgressReporter
    ) async throws -> (TransferredFile, isAdopted: Bool) {
        let session = Locked<TransferSession?>(nil)
        let part = try await StopFlag.blocking { [fileSystem, time, tuning] flag in
            try PartFile(
                request, in: place, fileSystem: fileSystem, time: time, tuning: tuning, flag: flag
            ) { chunk, range in
                session.withLock { $0 }?.want(range, chunk: chunk)
            }
        }
        return try await withTaskCancellationHandler {
            try await fill(part, of: request, session, at: place, isRaced: isRaced, budget, reporter)
        } onCancel: {
            // Ends the check of the bytes on the disk at once, and the wait for it.
            part.abandon()
        }
    }

    /// Fetches the bytes that a part file lacks.
    private func fill(
        _ part: PartFile, of request: TransferRequest, _ session: Locked<TransferSession?>, at place: Path,
        isRaced: Bool, _ budget: RetryBudget, _ reporter: ProgressReporter
    ) async throws -> (TransferredFile, isAdopted: Bool) {
        // Bytes on the disk are checked first. With an index, only the check tells which bytes are missing. Without
        // one, open connections would stand still until the hash caught up.
        if part.heldCount > 0 {
            async let _ = reporter.keepReporting(check: part, of: request.size.exact)
            try await part.settle()
        }
        let state = SessionState(request, held: part.held, tuning: tuning, isRaced: isRaced, budget: budget)
        let running = TransferSession(
            request: request, http: http, time: time, part: part,
            addresses: SourceAddresses(locations: request.locations, provider: provider, time: time),
            state: Locked(state), tuning: tuning, reporter: reporter, connections: connections)
        session.withLock { $0 = running }
        defer { session.withLock { $0 = nil } }
        do {
            let length = try await reporter.whileTicking { try await running.run() }
            reporter.report(.verifying, length, length)
            let digest = try await part.finish(at: length)
            let file = TransferredFile(
                path: place.appending("data.part"), size: length, digest: digest, fetchedBytes: running.fetchedBytes)
            return (file, await part.isAdopted)
        } catch {
            try? await part.record()  // the first error is the one to report; earlier records stay valid
            throw error
        }
    }

    private func discardPart(at place: Path) async throws {
        try await blocking { [fileSystem] in
            try fileSystem.removeFile(place.appending("journal"))
            try fileSystem.removeFile(place.appending("data.part"))
        }
    }

    /// The expected and the found digest of wrong bytes.
    typealias Difference = (expected: String?, found: String?)

    static func corrupted(_ request: TransferRequest, _ difference: Difference) -> TransferError {
        TransferError(
            .checksumMismatch,
            "Download corrupted: \(request.label) did not match its checksum in \(RetryBudget.maximumAttempts) attempts",
            context: ErrorContext(
                file: request.label, url: request.locations.first?.withoutQuery,
                expected: difference.expected, found: difference.found,
                remedy: "The damaged bytes were removed; try again, and tell the publisher if it stays so."))
    }

    /// The bytes of a request's file that occupy the disk already: recorded, or reserved by an earlier attempt.
    /// Blocks.
    package func bytesHeld(of request: TransferRequest) throws -> UInt64 {
        let part = try fileSystem.status(at: try place(of: request).appending("data.part"))
        guard let part else { return 0 }
        // The first bytes reserve space for the whole file, and the next attempt writes to the same one.
        return min(request.size.estimate, max(try recordedBytes(of: request), part.allocatedSize))
    }

    /// The bytes of a request's file that an earlier attempt recorded. Blocks.
    package func recordedBytes(of request: TransferRequest) throws -> UInt64 {
        let journal = try TransferJournal.read(try place(of: request).appending("journal"), in: fileSystem)
        return journal.map { $0.describes(request) ? $0.held.byteCount : 0 } ?? 0
    }

    /// Creates the progress reporter of one transfer.
    package func reporter() -> ProgressReporter { ProgressReporter(time: time, pulse: pulse) }

    /// The folder of a request's transfer.
    package func place(of request: TransferRequest) throws -> Path {
        folder.appending(try TransferKey(request))
    }
}
