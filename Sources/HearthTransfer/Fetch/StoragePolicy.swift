import HearthBase

/// Decides whether a disk has room for a delivery: the bytes still needed and a fifth more must be free.
///
/// No option overrides this, because a full disk breaks other programs. A disk that fills up during the download ends
/// it with `disk-full`.
package struct StoragePolicy: Equatable {
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

    /// Whether the free space suffices; unknown space does not.
    package func allows(free: UInt64?) -> Bool { free.map { $0 >= required } ?? false }
}

extension HearthError where Domain == Path {
    /// A disk that filled up during the download.
    package static func shortage(in folder: Path, required: UInt64, free: UInt64) -> Self {
        Self(
            .diskFull,
            "the disk filled up during the download: it needs \(ByteCount(required)) more, and \(ByteCount(free)) are free",
            context: ErrorContext(
                file: folder.string, expected: "\(required) bytes", found: "\(free) bytes",
                remedy: "Free some space and try again; nothing already received is lost."))
    }
}
