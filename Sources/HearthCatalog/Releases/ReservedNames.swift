import HearthBase

extension RelativePath {
    /// Why a release's file cannot have this path, `nil` if it can.
    package var reservation: String? {
        if RelativePath(components[0]).folded == "receipt.json" { return "the receipt has that name" }
        let isTemporary = components.contains { $0.name.hasPrefix(".") && $0.name.contains(Path.temporaryMark) }
        return isTemporary ? "unfinished files have such names" : nil
    }
}
