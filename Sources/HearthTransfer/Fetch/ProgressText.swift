import HearthBase

/// The parts of a reading as text; a bar, a log or a list shows those that it has room for.
extension TransferProgress {
    /// The part done, such as `42%`; 100 only when all bytes have come. `nil` while the total is unknown.
    public var percentText: String? {
        fraction.map { $0 >= 1 ? "100%" : "\(min(99, Int($0 * 100)))%" }
    }

    /// The state in a word or two, or the reason to wait in a sentence.
    public var stateText: String {
        if let hold = state.hold { return hold.message }
        return isRepeating ? "downloading again" : state.word
    }

    /// Whether bytes that were wrong are being fetched again.
    public var isRepeating: Bool { repeatedBytes > 0 && state.bringsBytes }

    /// The bytes, such as `41.3 MB of 98.4 MB`.
    public var bytesText: String {
        let done = ByteCount(presentBytes).description
        return totalBytes.map { "\(done) of \(ByteCount($0))" } ?? done
    }

    /// The download rate, such as `3.2 MB/s`; `nil` while no bytes come.
    public var rateText: String? {
        guard state == .downloading, let rate = bytesPerSecond, rate.isFinite, rate >= 1, rate < 1e15 else {
            return nil
        }
        return "\(ByteCount(UInt64(rate)))/s"
    }

    /// The time left at that rate, such as `8 s left`; `nil` if unknown.
    public var timeLeftText: String? {
        guard state == .downloading, let secondsLeft, secondsLeft > 0 else { return nil }
        return "\(TimeText.short(secondsLeft)) left"
    }
}
