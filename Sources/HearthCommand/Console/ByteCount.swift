import Foundation

/// A number of bytes as people write and read it: decimal units, as disks and networks count.
struct ByteCount: Sendable, Hashable, CustomStringConvertible {
    let bytes: UInt64

    init(_ bytes: UInt64) { self.bytes = bytes }

    /// Reads `500000`, `500K`, `1.5M`, `2GiB`; `nil` for anything else, for zero, and beyond 2^53.
    init?(parsing text: String) {
        let units: [(String, Double)] = [
            ("kib", 1024), ("mib", 1_048_576), ("gib", 1_073_741_824), ("tib", 1_099_511_627_776),
            ("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("tb", 1e12), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12),
            ("b", 1),
        ]
        let lower = text.lowercased()
        let unit = units.first { lower.hasSuffix($0.0) } ?? ("", 1)
        let digits = lower.dropLast(unit.0.count)
        // Double also reads "inf", "nan" and hexadecimal.
        guard digits.utf8.count <= 20, digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }),
            let number = Double(digits)
        else {
            return nil
        }
        let value = (number * unit.1).rounded()
        guard value >= 1, value <= 0x1p53 else { return nil }
        bytes = UInt64(value)
    }

    var description: String {
        let units = ["kB", "MB", "GB", "TB"]
        guard bytes >= 1000 else { return "\(bytes) B" }
        var value = Double(bytes) / 1000
        var unit = 0
        while value >= 999.95 && unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return String(format: "%.1f ", value) + units[unit]
    }
}

/// A time as people read it.
enum TimeText {
    /// `12 s`, `3 min 5 s`, `2 h 10 min`.
    static func short(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 360_000 else { return "many hours" }
        let whole = Int(max(0, seconds).rounded(.up))
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole % 3600 / 60) min"
    }
}
