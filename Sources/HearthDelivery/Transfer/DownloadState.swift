import Foundation
import HearthBase

/// Where one download stands: what an app shows.
public enum DownloadState: Sendable, Hashable {
    /// Nothing has begun, or the user has cancelled.
    case idle
    /// Something has to change before bytes may flow; it goes on by itself then.
    case waiting(DownloadHold)
    /// Bytes are coming. The part done, in [0, 1]; `nil` while the total is unknown.
    case downloading(progress: Double?)
    /// All bytes are here and are compared with what was promised.
    case verifying
    /// The bytes were not the promised ones: the pause before attempt number `attempt`, 2 or 3.
    case retrying(attempt: Int)
    /// The bytes are the promised ones and are being unpacked.
    case extracting
    /// The file is at this path.
    case completed(Path)
    /// It ended; the next start works.
    case failed(DownloadFailure)

    /// Whether it is under way: it has begun and not ended.
    public var isActive: Bool {
        switch self {
        case .idle, .completed, .failed: false
        case .waiting, .downloading, .verifying, .retrying, .extracting: true
        }
    }
}

/// What a download waits for.
public enum DownloadHold: Sendable, Hashable {
    /// There is no network.
    case offline
    /// The network is metered, and this download is only for those that are not.
    case metered
    /// Somebody paused it.
    case paused
}

/// Why a download ended without a file: what an app tells and what a program can decide by.
public struct DownloadFailure: HearthFailure, Hashable {
    /// The stable code of the error, such as `connection-lost`.
    public let code: String
    /// One sentence without a full stop.
    public let message: String
    /// Whether it is worth another attempt; what a command's exit status follows from.
    public let disposition: ErrorDisposition

    public var codeText: String { code }
    /// Nothing: what of the facts is for people stands in ``message``.
    public var context: ErrorContext { ErrorContext() }
    public var underlying: (any Error)? { nil }

    /// A failure of the given facts.
    public init(code: String, message: String, disposition: ErrorDisposition = .failed) {
        self.code = code
        self.message = message
        self.disposition = disposition
    }

    /// What of an error an app shows.
    public init(_ error: any HearthFailure) {
        self.init(code: error.codeText, message: error.message, disposition: error.disposition)
    }

    /// Whoever downloads has ended it, and kept what had come.
    public static let interrupted = DownloadFailure(
        code: "interrupted", message: "Download interrupted", disposition: .tryLater)
    /// The bytes were not the promised ones, in every attempt.
    public static let corrupted = DownloadFailure(code: "checksum-mismatch", message: "Download corrupted")
}

/// The life of one download as a value: it takes events and answers with what to do; it does nothing itself.
///
/// An event that does not fit the state changes nothing, so a timer that fires late or a second start does no harm. Whoever
/// carries out ``DownloadEffect/stop`` lets no event of the stopped work through afterwards.
/// What an earlier attempt left and cannot be continued is no event: ``FileTransfer`` throws it away and begins at the first byte.
///
/// ```swift
/// var download = Download()
/// download.take(.start)  // [.fetch]
/// download.take(.start)  // []: it runs already
/// ```
public struct Download: Sendable, Hashable {
    /// How often a file is fetched before it counts as corrupted at its source.
    public static let maximumAttempts = 3
    /// The pause after bytes that were not the promised ones.
    public static let corruptionPause = Duration.milliseconds(1500)

    /// Where it stands.
    public private(set) var state = DownloadState.idle
    /// Attempts in a row that brought the wrong bytes.
    private var corruptions = 0

    /// A download that has not begun.
    public init() {}

    /// Takes note of what happened; returns what to do, in this order.
    @discardableResult
    public mutating func take(_ event: DownloadEvent) -> [DownloadEffect] {
        switch event {
        case .start: start()
        case .hold(let reason): hold(reason)
        case .release: release()
        case .progress(let fraction): progress(fraction)
        case .received: received()
        case .mismatch: mismatch()
        case .pauseOver: pauseOver()
        case .verified(let path): verified(path)
        case .verifiedArchive: verifiedArchive()
        case .extracted(let path): extracted(path)
        case .cancelledByUser: cancelledByUser()
        case .cancelledBySystem(let failure): state.isActive ? fail(failure, [.stop]) : []
        case .failed(let failure): state.isActive ? fail(failure, []) : []
        }
    }

    private mutating func start() -> [DownloadEffect] {
        guard !state.isActive else { return [] }
        corruptions = 0
        state = .downloading(progress: nil)
        return [.fetch]
    }

    private mutating func hold(_ reason: DownloadHold) -> [DownloadEffect] {
        switch state {
        case .downloading, .retrying:
            state = .waiting(reason)
            return [.stop]
        case .waiting:
            state = .waiting(reason)
            return []
        case .idle, .verifying, .extracting, .completed, .failed: return []  // none of these needs the network
        }
    }

    private mutating func release() -> [DownloadEffect] {
        guard case .waiting = state else { return [] }
        state = .downloading(progress: nil)
        return [.fetch]
    }

    private mutating func progress(_ fraction: Double?) -> [DownloadEffect] {
        guard case .downloading = state else { return [] }
        // A total that is not one makes no bar of anything but 0 to 1.
        state = .downloading(progress: fraction.flatMap { $0.isFinite ? min(1, max(0, $0)) : nil })
        return []
    }

    private mutating func received() -> [DownloadEffect] {
        guard case .downloading = state else { return [] }
        state = .verifying
        return [.verify]
    }

    private mutating func mismatch() -> [DownloadEffect] {
        guard state == .verifying else { return [] }
        corruptions += 1
        guard corruptions < Self.maximumAttempts else { return fail(.corrupted, [.discardPart]) }
        state = .retrying(attempt: corruptions + 1)
        return [.discardPart, .pause(Self.corruptionPause)]
    }

    private mutating func pauseOver() -> [DownloadEffect] {
        guard case .retrying = state else { return [] }
        state = .downloading(progress: nil)
        return [.fetch]
    }

    private mutating func verified(_ path: Path) -> [DownloadEffect] {
        guard state == .verifying else { return [] }
        complete(path)
        return []
    }

    private mutating func verifiedArchive() -> [DownloadEffect] {
        guard state == .verifying else { return [] }
        state = .extracting
        return [.extract]
    }

    private mutating func extracted(_ path: Path) -> [DownloadEffect] {
        guard state == .extracting else { return [] }
        complete(path)
        return []
    }

    private mutating func cancelledByUser() -> [DownloadEffect] {
        switch state {
        case .idle, .completed: return []
        case .failed:
            // What a failure has kept is what the user now gives up.
            state = .idle
            return [.discardPart]
        case .waiting, .downloading, .verifying, .retrying, .extracting:
            corruptions = 0
            state = .idle
            return [.stop, .discardPart]
        }
    }

    private mutating func complete(_ path: Path) {
        corruptions = 0
        state = .completed(path)
    }

    private mutating func fail(_ failure: DownloadFailure, _ effects: [DownloadEffect]) -> [DownloadEffect] {
        corruptions = 0
        state = .failed(failure)
        return effects
    }
}

/// What happens to a download.
public enum DownloadEvent: Sendable, Hashable {
    /// Somebody wants the file.
    case start
    /// Bytes may not flow now.
    case hold(DownloadHold)
    /// Bytes may flow again.
    case release
    /// The part done, in [0, 1]; `nil` while the total is unknown.
    case progress(Double?)
    /// All bytes are here.
    case received
    /// They are not the promised ones.
    case mismatch
    /// The pause that was asked for is over.
    case pauseOver
    /// They are the promised ones, and the file is at this path.
    case verified(Path)
    /// They are the promised ones, and have to be unpacked.
    case verifiedArchive
    /// They are unpacked, at this path.
    case extracted(Path)
    /// The user does not want the file any more: its bytes go.
    case cancelledByUser
    /// The system ended the work (an interrupt, a shutdown, the network's policy): the bytes stay.
    case cancelledBySystem(DownloadFailure)
    /// The network or the disk failed: the bytes stay.
    case failed(DownloadFailure)
}

/// What a download wants done.
public enum DownloadEffect: Sendable, Hashable {
    /// Fetch what is missing.
    case fetch
    /// Compare what is here with what was promised.
    case verify
    /// Unpack it.
    case extract
    /// Wait this long, then tell ``DownloadEvent/pauseOver``.
    case pause(Duration)
    /// End whatever was asked for before, a pause as well.
    case stop
    /// Throw away the bytes there are.
    case discardPart
}
