#if Server
    /// A part of a file: first and last byte, both included.
    public struct ByteRange: Sendable, Hashable, CustomStringConvertible {
        public let first: UInt64
        public let last: UInt64

        /// A range of at least one byte.
        public init(first: UInt64, last: UInt64) {
            precondition(first <= last, "a byte range holds at least one byte")
            self.first = first
            self.last = last
        }

        /// The number of bytes.
        public var count: UInt64 { last - first + 1 }

        /// As in a `Range` field: `bytes=0-99`.
        public var description: String { "bytes=\(first)-\(last)" }
    }

    /// The meaning of a `Range` field for a file of a known size (RFC 9110, sections 14.1 and 14.2).
    public enum RangeRequest: Sendable, Hashable {
        /// Send everything: no range, several, another unit, or a field that makes no sense.
        case whole
        case part(ByteRange)
        /// Nothing of the file lies in the range.
        case unsatisfiable

        /// Reads the field's value; numbers of any length are understood.
        public init(_ value: String?, size: UInt64) {
            self = value.flatMap { Self.parse(Array($0.utf8), size: size) } ?? .whole
        }

        private static func parse(_ field: [UInt8], size: UInt64) -> Self? {
            let unit = Array("bytes=".utf8)
            let text = field.trimmingSpace
            guard text.count > unit.count, zip(text, unit).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return nil }
            let specifier = text.dropFirst(unit.count).trimmingSpace
            guard !specifier.contains(UInt8(ascii: ",")),
                let dash = specifier.firstIndex(of: UInt8(ascii: "-"))
            else { return nil }
            let left = specifier[..<dash]
            let right = specifier[(dash + 1)...]

            if left.isEmpty {
                guard let count = number(right) else { return nil }
                guard count > 0, size > 0 else { return .unsatisfiable }
                return .part(ByteRange(first: size - min(count, size), last: size - 1))
            }
            guard let first = number(left) else { return nil }
            var last = UInt64.max
            if !right.isEmpty {
                guard let number = number(right), number >= first else { return nil }
                last = number
            }
            guard first < size else { return .unsatisfiable }
            return .part(ByteRange(first: first, last: min(last, size - 1)))
        }

        /// A decimal number, `UInt64.max` if it is larger than that.
        private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
            guard !digits.isEmpty else { return nil }
            var value: UInt64 = 0
            for digit in digits {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
                let (sum, carried) = product.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
                value = overflowed || carried || value == .max ? .max : sum
            }
            return value
        }
    }

    extension BidirectionalCollection<UInt8> where SubSequence: BidirectionalCollection<UInt8> {
        /// Without the spaces and tabs around it.
        fileprivate var trimmingSpace: ArraySlice<UInt8> {
            var slice = ArraySlice(self)
            while let byte = slice.first, byte == 0x20 || byte == 0x09 { slice.removeFirst() }
            while let byte = slice.last, byte == 0x20 || byte == 0x09 { slice.removeLast() }
            return slice
        }
    }
#endif
