import HearthBase
import HearthDelivery
import HearthTransfer

/// The state of a model's download, for display.
public enum DownloadState: Sendable, Hashable {
    /// Not started, or cancelled by the user.
    case idle
    /// Waits for a condition to change, then continues.
    case waiting(DownloadHold)
    /// The completed part, 0...1; `nil` if the total is unknown.
    case downloading(progress: Double?)
    /// All bytes are on the device and are compared with the declared digests.
    case verifying
    /// The bytes did not match; pausing before attempt number `attempt`, 2 or 3.
    case retrying(attempt: Int)
    /// The verified bytes are being unpacked.
    case extracting
    /// The file is complete, at this path.
    case completed(Path)
    /// The download failed; it can be started again.
    case failed(FailureBody)

    /// The state for a progress report.
    public init(_ reading: TransferProgress) {
        switch reading.state {
        case .queued, .connecting, .downloading: self = .downloading(progress: reading.fraction)
        // Only some of the bytes are verified; others are still to be fetched.
        case .verifying where reading.fraction != 1: self = .downloading(progress: reading.fraction)
        case .verifying, .installing, .preparing, .probing: self = .verifying
        case .extracting: self = .extracting
        case .waiting(let hold): self = .waiting(hold)
        case .retrying(let attempt, _): self = .retrying(attempt: attempt)
        }
    }

    /// Whether the download has begun and not ended.
    public var isActive: Bool {
        switch self {
        case .idle, .completed, .failed: false
        case .waiting, .downloading, .verifying, .retrying, .extracting: true
        }
    }
}
