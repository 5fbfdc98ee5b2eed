extension Sequence<UInt64> {
    /// The sum, or the largest number there is: figures from outside may be as large as they please.
    var saturatedSum: UInt64 {
        reduce(0) { sum, next in
            let (total, isTooMuch) = sum.addingReportingOverflow(next)
            return isTooMuch ? .max : total
        }
    }
}
