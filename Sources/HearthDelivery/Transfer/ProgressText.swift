import HearthBase

/// A reading for people, in pieces: a bar, a log and a list put together what they have room for.
extension TransferProgress {
    /// The part done, such as `42%`; 100 only when it is true. `nil` while the total is unknown.
    public var percentText: String? {
        fraction.map { $0 >= 1 ? "100%" : "\(min(99, Int($0 * 100)))%" }
    }

    /// What is going on, in a word, or what is waited for, in a sentence.
    public var phaseText: String { hold?.message ?? phase.rawValue }

    /// The bytes, such as `41.3 MB of 98.4 MB`.
    public var bytesText: String {
        let done = ByteCount(completedBytes).description
        return totalBytes.map { "\(done) of \(ByteCount($0))" } ?? done
    }

    /// What comes, such as `3.2 MB/s`; `nil` while nothing does.
    public var rateText: String? {
        guard phase == .downloading, let rate = bytesPerSecond, rate.isFinite, rate >= 1, rate < 1e15 else {
            return nil
        }
        return "\(ByteCount(UInt64(rate)))/s"
    }

    /// The time to go at that rate, such as `8 s left`; `nil` where nobody can tell.
    public var timeLeftText: String? {
        guard phase == .downloading, let secondsLeft, secondsLeft > 0 else { return nil }
        return "\(TimeText.short(secondsLeft)) left"
    }
}
