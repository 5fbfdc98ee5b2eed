import HearthTransfer

/// How a file is cut into requests.
enum Shape: String, Sendable, CaseIterable {
    /// One request for everything that is missing, over one connection.
    case onePiece = "one piece"
    /// Pieces of 32 KiB over up to four connections.
    case pieces

    /// How many pieces the rows' file has.
    static let pieceCount = 10

    var tuning: TransferTuning {
        var tuning = TransferTuning()
        tuning.initialConnections = self == .onePiece ? 1 : 4
        tuning.maximumConnections = tuning.initialConnections
        // A look takes no time on a test's clock, so that everybody would seem to have fallen behind.
        tuning.stragglerInterval = nil
        if self == .pieces { tuning.pieceLength = 32 << 10 }
        return tuning
    }
}
