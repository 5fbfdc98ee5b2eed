import HearthBase

/// Whether a delivery may begin on a disk: what it still needs has to fit with a fifth to spare.
///
/// A device whose disk is full to the last byte stops working in other places than this one, which is why nobody can
/// insist. A disk that fills up while the bytes come is another matter, and ends in `disk-full`.
struct StoragePolicy: Equatable {
    /// What the policy says of a disk.
    enum Verdict: Equatable {
        case allowed
        /// The disk has to have `required` bytes and does not, or does not say.
        case refused(required: UInt64)
    }

    /// The bytes of all files of the release.
    var total: UInt64
    /// How many of them have their place on the disk already.
    var held: UInt64

    /// The bytes that have to be free: what is still needed and a fifth of it, rounded up.
    var required: UInt64 {
        let needed = total - min(total, held)
        let (sum, isTooMuch) = needed.addingReportingOverflow(needed / 5 + (needed % 5 == 0 ? 0 : 1))
        return isTooMuch ? .max : sum
    }

    /// - Parameter free: the bytes that may still be written, `nil` where the disk does not say.
    func verdict(free: UInt64?) -> Verdict {
        guard let free, free >= required else { return .refused(required: required) }
        return .allowed
    }
}

extension HearthError where Domain == DeliveryErrorDomain {
    /// A disk that filled up while bytes came.
    static func shortage(in folder: Path, required: UInt64, free: UInt64) -> Self {
        Self(
            .insufficientStorage, "others have filled the disk while the file was arriving",
            context: ErrorContext(
                file: folder.string, expected: "\(required) bytes", found: "\(free) bytes",
                remedy: "Free some space; nothing already received is lost."))
    }
}
