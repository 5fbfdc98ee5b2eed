import HearthBase

/// Decides whether a disk has room for a delivery: the bytes still needed and a fifth more must be free.
///
/// No option overrides this, because a full disk breaks other programs. A disk that fills up during the download ends
/// it with `disk-full`.
package struct StoragePolicy: Equatable {
    /// The decision about a disk.
    package enum Verdict: Equatable {
        case allowed
        /// The disk has fewer than `required` free bytes, or does not report them.
        case refused(required: UInt64)
    }

    /// The bytes of all files of the release.
    package var total: UInt64
    /// The bytes of them that occupy the disk already.
    package var held: UInt64

    /// Memberwise.
    package init(total: UInt64, held: UInt64) {
        self.total = total
        self.held = held
    }

    /// The bytes that must be free: those still needed and a fifth of them, rounded up.
    package var required: UInt64 {
        let needed = total - min(total, held)
        return needed.addingSaturating(needed / 5 + (needed % 5 == 0 ? 0 : 1))
    }

    /// - Parameter free: the bytes that may still be written, `nil` if the disk does not report them.
    package func verdict(free: UInt64?) -> Verdict {
        guard let free, free >= required else { return .refused(required: required) }
        return .allowed
    }
}

extension HearthError where Domain == Path {
    /// A disk that filled up during the download.
    package static func shortage(in folder: Path, required: UInt64, free: UInt64) -> Self {
        Self(
            .diskFull, "the disk filled up during the download",
            context: ErrorContext(
                file: folder.string, expected: "\(required) bytes", found: "\(free) bytes",
                remedy: "Free some space and try again; nothing already received is lost."))
    }
}
