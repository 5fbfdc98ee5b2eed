extension UInt64 {
    /// The sum, or the largest number on overflow: numbers from outside may have any size.
    package func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}

extension Sequence<UInt64> {
    /// The sum, or the largest number on overflow.
    package var saturatedSum: UInt64 { reduce(0) { $0.addingSaturating($1) } }
}
