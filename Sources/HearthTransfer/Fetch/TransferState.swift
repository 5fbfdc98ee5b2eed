import Foundation
import HearthBase

/// The state of a delivery under way, from the first request to the release that is ready.
public enum TransferState: Sendable, Hashable {
    /// Other transfers of this process use the connections.
    case queued
    case connecting, downloading
    /// Bytes on the disk are checked: those of an earlier attempt before the download, all of them at the end.
    case verifying
    /// No bytes come until the reason to wait has passed; then it continues.
    case waiting(DownloadHold)
    /// The bytes were wrong: the pause before attempt number `attempt` of `limit`.
    case retrying(attempt: Int, limit: Int)
    /// An archive is unpacked: the bytes are those that came out of the archive.
    case extracting
    case installing
    /// An engine makes an artifact of the release.
    case preparing
    /// An engine tries the release before it becomes active.
    case probing

    /// The stable word for it, which programs read.
    public var word: String {
        switch self {
        case .queued: "queued"
        case .connecting: "connecting"
        case .downloading: "downloading"
        case .verifying: "verifying"
        case .waiting(.paused): "paused"
        case .waiting: "waiting"
        case .retrying: "retrying"
        case .extracting: "extracting"
        case .installing: "installing"
        case .preparing: "preparing"
        case .probing: "probing"
        }
    }

    /// The reason to wait, in the state `waiting`.
    public var hold: DownloadHold? { if case .waiting(let hold) = self { hold } else { nil } }

    /// Whether bytes come from the network.
    var bringsBytes: Bool { self == .connecting || self == .downloading }

    /// Whether bytes that were wrong are fetched again in this state, or after it.
    var repeats: Bool { if case .retrying = self { true } else { bringsBytes } }

    /// Whether no bytes come, and none are checked.
    var isHalted: Bool { if case .waiting = self { true } else { self == .queued } }
}

extension FailureBody {
    /// The app ended the download and kept the bytes.
    public static let interrupted = FailureBody(
        code: "interrupted", message: "Download interrupted", disposition: .tryLater)

    /// An earlier download ended with bytes that did not match their checksum.
    package static let corrupted = FailureBody(
        code: ErrorCode<TransferState>.checksumMismatch.rawValue, message: "Download corrupted")
}
