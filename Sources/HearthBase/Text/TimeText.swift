/// Durations as text for people.
package enum TimeText {
    /// Formats a duration: `12 s`, `3 min 5 s`, `2 h 10 min`.
    package static func short(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 360_000 else { return "many hours" }
        let whole = Int(max(0, seconds).rounded(.up))
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole % 3600 / 60) min"
    }
}
