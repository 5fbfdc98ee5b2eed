import Foundation
import HearthBase
import HearthHTTP

/// Brings one file over: resumes what an earlier attempt left, checks every byte, and keeps what it has when it stops.
///
/// ```
/// <folder>/<key>/      key: the digest, or a hash of the address for a file without one
///     data.part        the bytes, in place
///     journal          what of them is on the disk, and what they belong to
///     written          what of them is written; see ``WrittenRecord``
///     lock, lease      held while a process works here; see ``TransferLock``
/// ```
public struct FileTransfer: Sendable {
    private let http: any HTTPClient
    private let fileSystem: any FileSystem
    private let time: TimeSource
    private let folder: Path
    private let tuning: TransferTuning
    private let provider: (any DownloadURLProvider)?
    private let network: (any NetworkMonitor)?
    private let pulse: TimeSource

    /// Transfers whose files grow below `folder`.
    /// - Parameters:
    ///   - provider: makes the addresses that are used of those in the catalog; `nil` uses them as they are.
    ///   - network: says when the network may not be used, by the request's own rules; `nil` asks nobody.
    ///   - pulse: the time that passes between two readings while nothing moves.
    public init(
        http: any HTTPClient, fileSystem: any FileSystem, time: TimeSource, folder: Path,
        tuning: TransferTuning = TransferTuning(), provider: (any DownloadURLProvider)? = nil,
        network: (any NetworkMonitor)? = nil, pulse: TimeSource = .system
    ) {
        self.http = http
        self.fileSystem = fileSystem
        self.time = time
        self.folder = folder
        self.tuning = tuning
        self.provider = provider
        self.network = network
        self.pulse = pulse
    }

    /// Fetches what is missing of a file, and checks it.
    ///
    /// Cancelling keeps the bytes; the next call goes on behind them. What is here is read again first, in the phase
    /// `verifying`, and cancelling does not wait for the end of that. Broken connections are taken up again by
    /// themselves, a few times in a row without progress and without limit while bytes come. Bytes that are not the
    /// promised ones are thrown away and fetched again, ``Download/maximumAttempts`` times in all, from the next place
    /// if there is one; in the pause between, the file stays locked against other calls.
    /// While the network may not be used it waits, and goes on by itself.
    /// - Throws: ``TransferError``, `HTTPError`, `FileError`, `CancellationError`; ``DeliveryError`` with
    ///   `insufficient-storage` when the disk fills up while bytes come.
    public func fetch(
        _ request: TransferRequest, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> TransferredFile {
        let place = try self.place(of: request)
        guard let lock = try await TransferLock.acquire(place, fileSystem: fileSystem) else {
            let holder = try await blocking { [fileSystem] in
                try TransferLock.holder(of: place, fileSystem: fileSystem, now: Date())
            }
            throw TransferError.busy(request.label, holder: holder)
        }
        return try await lock.whileHeld { try await fetch(request, under: lock, progress: progress) }
    }

    /// Fetches under a lock that the caller holds and renews.
    func fetch(
        _ request: TransferRequest, under lock: TransferLock, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> TransferredFile {
        let place = try self.place(of: request)
        let reporter = ProgressReporter(time: time, pulse: pulse, report: progress)
        guard let network else { return try await attempt(request, at: place, reporter) }
        let gate = NetworkGate(policy: NetworkPolicy(metered: request.metered), monitor: network, time: time)
        return try await gate.whileAllowed(locations: request.locations) { hold in
            guard let hold else { return }
            Log.write(.info, "delivery.transfer", "\(request.label) waits: \(hold.message)")
            reporter.report(.waiting, 0, request.size.exact, hold: hold)
        } body: {
            try await attempt(request, at: place, reporter)
        }
    }

    /// Attempts, until the bytes are the promised ones or the ``Download`` has had enough.
    private func attempt(
        _ request: TransferRequest, at place: Path, _ reporter: ProgressReporter
    ) async throws -> TransferredFile {
        var download = Download()
        download.take(.start)
        var request = request
        if request.digest == nil || request.size.exact != request.index?.fileSize { request.index = nil }
        var fetched: UInt64 = 0
        var isRaced = true
        while true {
            var (file, isAdopted) = try await fetchOnce(request, at: place, isRaced: isRaced, reporter)
            fetched += file.fetchedBytes
            file.fetchedBytes = fetched
            download.take(.received)
            guard let expected = request.digest, expected != file.digest else { return file }
            if isAdopted {
                // Bytes nobody vouched for were worth a try; that they are wrong is not the server's fault.
                try await discardPart(at: place)
                download = Download()
                download.take(.start)
                continue
            }
            for effect in download.take(.mismatch) {
                switch effect {
                case .discardPart: try await discardPart(at: place)
                case .pause(let duration):
                    Log.write(.info, "delivery.transfer", "\(request.label): bytes differ; again after \(duration)")
                    reporter.report(.retrying, 0, request.size.exact)
                    try await time.sleep(for: duration)
                    download.take(.pauseOver)
                case .fetch, .verify, .extract, .stop: break  // no answers to a mismatch
                }
            }
            if case .failed = download.state {
                throw Self.corrupted(request, expected: expected, found: file.digest)
            }
            // Of several places nobody knows which one sent the wrong bytes: from now on each has to bring all of them.
            isRaced = false
            request.locations.append(request.locations.removeFirst())
        }
    }

    /// Fetches what is missing of the whole, whatever its digest.
    /// - Parameter isRaced: whether all places are asked at a time; else one, and the next when that is of no use.
    /// - Returns: the file, and whether some of it was taken over without a journal.
    private func fetchOnce(
        _ request: TransferRequest, at place: Path, isRaced: Bool, _ reporter: ProgressReporter
    ) async throws -> (TransferredFile, isAdopted: Bool) {
        let session = Locked<TransferSession?>(nil)
        let part = try await blocking { [fileSystem, time, tuning] in
            try PartFile(request, in: place, fileSystem: fileSystem, time: time, tuning: tuning) { chunk, range in
                session.withLock { $0 }?.want(range, chunk: chunk)
            }
        }
        return try await withTaskCancellationHandler {
            try await fetchOnce(request, into: part, session, at: place, isRaced: isRaced, reporter)
        } onCancel: {
            // Neither the reading of what is here nor who waits for it holds up the end.
            part.abandon()
        }
    }

    private func fetchOnce(
        _ request: TransferRequest, into part: PartFile, _ session: Locked<TransferSession?>, at place: Path,
        isRaced: Bool, _ reporter: ProgressReporter
    ) async throws -> (TransferredFile, isAdopted: Bool) {
        // What is here from earlier times is checked first: with an index only that tells what is missing, and without one
        // connections would stand still until the hash has caught up with them.
        if part.heldCount > 0 {
            async let _ = reporter.keepReporting(check: part, of: request.size.exact)
            try await part.settle()
        }
        let state = SessionState(request, held: part.held, tuning: tuning, isRaced: isRaced)
        let running = TransferSession(
            request: request, http: http, time: time, part: part,
            addresses: SourceAddresses(locations: request.locations, provider: provider), state: Locked(state),
            tuning: tuning, reporter: reporter)
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
            try? await part.record()  // the first error is the one to tell; what was recorded before stays recorded
            throw error
        }
    }

    private func discardPart(at place: Path) async throws {
        try await blocking { [fileSystem] in
            try fileSystem.removeFile(place.appending(WrittenRecord.name))
            try fileSystem.removeFile(place.appending("journal"))
            try fileSystem.removeFile(place.appending("data.part"))
        }
    }

    private static let inAllAttempts = "did not match its checksum in \(Download.maximumAttempts) attempts"

    static func corrupted(
        _ request: TransferRequest, _ what: String = inAllAttempts, expected: SHA256Digest?, found: SHA256Digest?
    ) -> TransferError {
        TransferError(
            .checksumMismatch, "\(DownloadFailure.corrupted.message): \(request.label) \(what)",
            context: ErrorContext(
                file: request.label, url: request.locations.first?.withoutQuery,
                expected: expected?.hex, found: found?.hex,
                remedy: "The damaged bytes were removed; try again, and tell the publisher if it stays so."))
    }

    /// The bytes of a request's file that have their place on the disk already: recorded, or reserved by an earlier
    /// attempt. Blocks.
    func bytesHeld(of request: TransferRequest) throws -> UInt64 {
        let place = try self.place(of: request)
        guard let part = try fileSystem.status(at: place.appending("data.part")) else { return 0 }
        let journal = try TransferJournal.read(place.appending("journal"), in: fileSystem)
        let recorded = journal.map { $0.describes(request) ? $0.held.byteCount : 0 } ?? 0
        // A whole file is reserved with its first bytes, and the next attempt writes into the same one.
        return min(request.size.estimate, max(recorded, part.allocatedSize))
    }

    /// Throws away whatever there is of a request's file.
    public func discard(_ request: TransferRequest) async throws {
        let place = try self.place(of: request)
        try await blocking { [fileSystem] in try fileSystem.removeTree(place) }
    }

    private func place(of request: TransferRequest) throws -> Path {
        let address = request.locations.first?.withoutQuery ?? request.label
        let key = request.digest?.hex ?? "url-" + SHA256Digest(hashing: Array(address.utf8)).hex
        guard let component = PathComponent(key) else { throw FileError(errno: EINVAL, doing: "create", path: folder) }
        return folder.appending(component)
    }
}
