import Foundation
import HearthBase

/// One transfer as listings show it.
public struct TransferSummary: Sendable, Hashable {
    /// How it stands.
    public enum State: Sendable, Hashable {
        /// This process works on it.
        case running(DownloadState)
        /// Another process works on it.
        case runningElsewhere(TransferHolder)
        /// Somebody paused it; `by` is the process that goes on when it is resumed, `nil` if there is none.
        case paused(by: TransferHolder?)
        /// The network has to change; `by` goes on with it by itself then.
        case waiting(DownloadHold, by: TransferHolder)
        /// It was under way when its process ended; the next pull goes on behind its bytes.
        case interrupted
        /// Every byte is here, and it was never installed.
        case finished
        /// Nobody knows what it is for, or nobody wants it any more.
        case orphaned(reason: String)

        /// The stable word for it: what programs read.
        public var word: String {
            switch self {
            case .running, .runningElsewhere: "running"
            case .paused: "paused"
            case .waiting: "waiting"
            case .interrupted: "interrupted"
            case .finished: "finished"
            case .orphaned: "orphaned"
            }
        }

        /// Whether somebody works on it, or will go on by itself.
        public var isHeld: Bool {
            switch self {
            case .running, .runningElsewhere, .waiting, .paused(by: .some): true
            case .paused(by: nil), .interrupted, .finished, .orphaned: false
            }
        }
    }

    public var key: TransferKey
    public var state: State
    /// What it is for, `nil` where that cannot be read.
    public var plan: TransferPlan?
    /// The bytes that need not be fetched again.
    public var recordedBytes: UInt64
    /// What it occupies on the disk: what removing it frees.
    public var allocatedBytes: UInt64
    /// The length of the file, `nil` while nobody knows.
    public var totalBytes: UInt64?
    /// The last change of its files, or the moment it was begun.
    public var changed: Date?

    /// The file's name, or the key of a transfer without one.
    public var label: String { plan?.label ?? key.name }
    /// The release the file belongs to.
    public var release: ReleaseIdentity? { plan?.release }
}

/// The codes of ``TransferControlError``.
public enum TransferControlErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] { [.cancelled, .unknownTransfer, .ambiguousTransfer, .notResumable] }
}

/// What people ask of transfers, and what comes of it.
public typealias TransferControlError = HearthError<TransferControlErrorDomain>

extension ErrorCode<TransferControlErrorDomain> {
    /// Somebody cancelled the transfer: its bytes are gone.
    public static var cancelled: Self { "cancelled" }
    /// No transfer has that key, file name or family.
    public static var unknownTransfer: Self { "unknown-transfer" }
    /// Several transfers begin with that key or have that file name.
    public static var ambiguousTransfer: Self { "ambiguous-transfer" }
    /// Nobody knows how the transfer can be asked for again.
    public static var notResumable: Self { "not-resumable" }
}

extension [TransferSummary] {
    /// The transfers that a person means: one by its key, by the beginning of one or by its file name, or all of a family.
    /// - Throws: ``TransferControlError`` with `unknown-transfer`, `ambiguous-transfer`.
    public func matching(_ text: String) throws -> [TransferSummary] {
        if let exact = first(where: { $0.key.name == text }) { return [exact] }
        let ofFamily = filter { $0.release?.family.name == text }
        if !ofFamily.isEmpty { return ofFamily }
        let named = filter { $0.plan?.label == text || (text.utf8.count >= 4 && $0.key.name.hasPrefix(text)) }
        guard named.count <= 1 else {
            throw TransferControlError(
                .ambiguousTransfer, "several transfers are called \(text.quoted)",
                context: ErrorContext(
                    found: named.map(\.key.name).joined(separator: ", "),
                    remedy: "Give more of the key: `hearth transfers list --format json` shows it whole."))
        }
        guard let only = named.first else {
            throw TransferControlError(
                .unknownTransfer, "there is no transfer called \(text.quoted)",
                context: ErrorContext(remedy: "See what there is with `hearth transfers list`."))
        }
        return [only]
    }
}
