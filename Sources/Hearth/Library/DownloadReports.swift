import HearthDelivery

/// Turns the readings of a delivery into what they mean for the life of a download.
struct DownloadReports: Sendable, Hashable {
    private enum Place: Sendable, Hashable { case moving, held, checking, extracting, pausing }

    private var place = Place.moving
    private var mismatches = 0

    /// The events that lead from the reading before to this one.
    mutating func events(for progress: TransferProgress) -> [DownloadEvent] {
        switch progress.phase {
        case .connecting, .downloading: return leave(for: .moving) + [.progress(progress.fraction)]
        case .verifying where progress.fraction != 1:
            // One of several files; the next one's bytes are still to come.
            return leave(for: .moving) + [.progress(progress.fraction)]
        case .verifying, .installing, .preparing, .probing: return check()
        case .extracting:
            guard place != .extracting else { return [] }
            let before = check()
            place = .extracting
            return before + [.verifiedArchive]
        case .waiting, .paused:
            let hold = progress.hold ?? (progress.phase == .paused ? .paused : .offline)
            let before = place == .held ? [] : leave(for: .moving)
            place = .held
            return before + [.hold(hold)]
        case .retrying:
            guard place != .pausing else { return [] }
            let before = check()
            // The budget is each file's own, the download's is for one: what goes beyond it is not told, as it goes on.
            guard mismatches < Download.maximumAttempts - 1 else { return before }
            mismatches += 1
            place = .pausing
            return before + [.mismatch]
        }
    }

    private mutating func check() -> [DownloadEvent] {
        guard place != .checking else { return [] }
        let before = leave(for: .checking)
        return before + [.received]
    }

    /// What ends the place left.
    private mutating func leave(for next: Place) -> [DownloadEvent] {
        defer { place = next }
        switch place {
        case .moving, .extracting: return []
        case .held: return [.release]
        case .pausing: return [.pauseOver]
        case .checking:
            // Bytes come again though all were here: they were not the promised ones.
            guard next == .moving, mismatches < Download.maximumAttempts - 1 else { return [] }
            mismatches += 1
            return [.mismatch, .pauseOver]
        }
    }
}
