/// Length of a file before it is fetched, exact or rounded.
public enum FileSize: Sendable, Hashable {
    case exact(UInt64)
    /// A rounded length for progress, and the largest length that is accepted.
    case about(UInt64, limit: UInt64)

    /// The exact or rounded length.
    public var estimate: UInt64 {
        switch self {
        case .exact(let size), .about(let size, _): size
        }
    }

    /// The largest length that is accepted.
    public var limit: UInt64 {
        switch self {
        case .exact(let size), .about(_, let size): size
        }
    }

    /// The exact length, `nil` if only a rounded one is known.
    public var exact: UInt64? {
        if case .exact(let size) = self { size } else { nil }
    }
}
