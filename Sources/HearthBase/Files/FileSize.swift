/// The length of a file before it is fetched, exact or rounded.
package enum FileSize: Sendable, Hashable {
    case exact(UInt64)
    /// A rounded length for progress, and the largest accepted length.
    case about(UInt64, limit: UInt64)

    /// The exact or rounded length.
    package var estimate: UInt64 {
        switch self {
        case .exact(let size), .about(let size, _): size
        }
    }

    /// The largest accepted length.
    package var limit: UInt64 {
        switch self {
        case .exact(let size), .about(_, let size): size
        }
    }

    /// The exact length, `nil` if only a rounded one is known.
    package var exact: UInt64? {
        if case .exact(let size) = self { size } else { nil }
    }
}
