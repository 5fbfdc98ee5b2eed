import HearthCatalog
import HearthDelivery
import HearthTransfer

/// Texts for a row of a list.
extension LibraryRow {
    /// The state in a few words: `downloading 42%, 3.2 MB/s, 8 s left`.
    public var stateText: String {
        if isBeingDeleted { return "being deleted" }
        switch state {
        case .notDownloaded: return "not downloaded"
        case .waiting(let hold): return "waiting: \(hold.heading)"
        case .downloading: return downloadText
        case .downloaded: return "downloaded"
        case .updateAvailable(let version): return "update to \(version) available"
        case .failed(let failure): return "failed: \(failure.message)"
        case .incompatible(let reason): return "incompatible: \(reason.shortText)"
        }
    }

    /// An explanation of the state in a sentence; `nil` if ``stateText`` says it all.
    public var detailText: String? { detail.text }

    /// The stable code of ``detailText``, `nil` without one.
    public var detailCode: String? { detail.code }

    private var detail: (code: String?, text: String?) {
        switch state {
        case .waiting(let hold): (nil, hold.message)
        case .failed(let failure): (failure.code, failure.message)
        case .incompatible(let reason): (reason.code, reason.message)
        case .downloaded: (noUpdate?.code, noUpdate?.reason)
        case .notDownloaded, .downloading, .updateAvailable: (nil, nil)
        }
    }

    /// The completed part, 0...1, also while the download waits; `nil` without a download or if the total is unknown.
    public var progress: Double? {
        switch state {
        case .downloading(let progress): progress
        case .waiting: reading?.fraction
        case .notDownloaded, .downloaded, .updateAvailable, .failed, .incompatible: nil
        }
    }

    /// Adds percentage, rate and time left only while they describe the transfer of bytes.
    private var downloadText: String {
        guard let reading else { return TransferState.downloading.word }
        if case .retrying(let attempt, let limit) = reading.state {
            return "retrying, attempt \(attempt) of \(limit)"
        }
        let percent = reading.isAboutBytes ? reading.percentText.map { " \($0)" } ?? "" : ""
        return ([reading.stateText + percent] + [reading.rateText, reading.timeLeftText].compactMap(\.self))
            .joined(separator: ", ")
    }
}

extension TransferProgress {
    /// Whether the completed part describes bytes; installing, preparing and probing start after all bytes are here.
    fileprivate var isAboutBytes: Bool {
        switch state {
        case .queued, .connecting, .downloading, .verifying, .extracting, .waiting, .retrying: true
        case .installing, .preparing, .probing: false
        }
    }
}

extension ModelState {
    /// The state as a word for programs.
    public var word: String {
        switch self {
        case .notDownloaded: "not-downloaded"
        case .waiting: "waiting"
        case .downloading: "downloading"
        case .downloaded: "downloaded"
        case .updateAvailable: "update-available"
        case .failed: "failed"
        case .incompatible: "incompatible"
        }
    }
}
