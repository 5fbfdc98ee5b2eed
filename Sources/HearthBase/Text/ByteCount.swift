import Foundation

/// A number of bytes as text in decimal units, as for disks and networks.
package struct ByteCount: Sendable, Hashable, CustomStringConvertible {
    package let bytes: UInt64

    /// Makes a byte count.
    package init(_ bytes: UInt64) { self.bytes = bytes }

    /// Reads `500000`, `500K`, `1.5M`, `2GiB`; `nil` for other text, for zero, and beyond 2^53.
    package init?(parsing text: String) {
        let units: [(String, Double)] = [
            ("kib", 1024), ("mib", 1_048_576), ("gib", 1_073_741_824), ("tib", 1_099_511_627_776),
            ("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("tb", 1e12), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12),
            ("b", 1),
        ]
        let lower = text.lowercased()
        let unit = units.first { lower.hasSuffix($0.0) } ?? ("", 1)
        let digits = lower.dropLast(unit.0.count)
        // Double would also read "inf", "nan" and hexadecimal.
        guard digits.utf8.count <= 20, digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }),
            let number = Double(digits)
        else {
            return nil
        }
        let value = (number * unit.1).rounded()
        guard value >= 1, value <= 0x1p53 else { return nil }
        bytes = UInt64(value)
    }

    package var description: String {
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
