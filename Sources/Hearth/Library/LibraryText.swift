import HearthDelivery

/// A row in words: what a list shows beside name and figures.
extension LibraryRow {
    /// How the model stands, in a few words: `downloading 42%, 3.2 MB/s, 8 s left`.
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

    /// Why it stands so, in a sentence; `nil` where there is no more to say than ``stateText`` does.
    public var detailText: String? {
        switch state {
        case .waiting(let hold): hold.message
        case .failed(let failure): failure.message
        case .incompatible(let reason): reason.message
        case .downloaded: noUpdate?.reason
        case .notDownloaded, .downloading, .updateAvailable: nil
        }
    }

    /// The stable code of that reason; `nil` where there is none.
    public var detailCode: String? {
        switch state {
        case .failed(let failure): failure.code
        case .incompatible(let reason): reason.code
        case .downloaded: noUpdate?.code
        case .notDownloaded, .waiting, .downloading, .updateAvailable: nil
        }
    }

    /// The part done, in [0, 1]; `nil` where none is under way or the total is unknown.
    public var progress: Double? {
        if case .downloading(let progress) = state { progress } else { nil }
    }

    /// What is said besides the phase belongs to the bytes: rate and time left are there while some come.
    private var downloadText: String {
        if case .retrying(let attempt) = download.state {
            return "retrying, attempt \(attempt) of \(Download.maximumAttempts)"
        }
        guard let reading else { return TransferProgress.Phase.downloading.rawValue }
        let percent = reading.isAboutBytes ? reading.percentText.map { " \($0)" } ?? "" : ""
        return ([reading.phaseText + percent] + [reading.rateText, reading.timeLeftText].compactMap(\.self))
            .joined(separator: ", ")
    }
}

extension TransferProgress {
    /// Whether the part done is that of what goes on; all bytes are here while a release is installed, prepared and tried.
    fileprivate var isAboutBytes: Bool {
        switch phase {
        case .connecting, .downloading, .verifying, .extracting, .paused, .waiting, .retrying: true
        case .installing, .preparing, .probing: false
        }
    }
}

extension ModelState {
    /// The state as programs read it.
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
