/// The wire form: the state as `phase`, with what it waits for and the number of the attempt.
extension TransferProgress: Codable {
    private enum CodingKeys: CodingKey {
        case phase, completedBytes, totalBytes, bytesPerSecond, secondsLeft, connections, source, waitingFor, attempt
        case attempts, repeatedBytes
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let hold =
            try container.decodeIfPresent(String.self, forKey: .waitingFor).flatMap(DownloadHold.init) ?? .offline
        let attempt = try container.decodeIfPresent(Int.self, forKey: .attempt) ?? 1
        let limit = try container.decodeIfPresent(Int.self, forKey: .attempts) ?? 1
        // The time left follows from the other members.
        _ = try container.decodeIfPresent(Double.self, forKey: .secondsLeft)
        let phase = try container.decode(String.self, forKey: .phase)
        let others: [TransferState] = [
            .queued, .connecting, .verifying, .extracting, .installing, .preparing, .probing,
        ]
        let state: TransferState =
            switch phase {
            case "paused": .waiting(.paused)
            case "waiting": .waiting(hold)
            case "retrying": .retrying(attempt: attempt, limit: limit)
            default: others.first { $0.word == phase } ?? .downloading
            }
        self.init(
            state: state, completedBytes: try container.decode(UInt64.self, forKey: .completedBytes),
            totalBytes: try container.decodeIfPresent(UInt64.self, forKey: .totalBytes),
            bytesPerSecond: try container.decodeIfPresent(Double.self, forKey: .bytesPerSecond),
            connections: try container.decodeIfPresent(Int.self, forKey: .connections) ?? 0,
            source: try container.decodeIfPresent(String.self, forKey: .source),
            repeatedBytes: try container.decodeIfPresent(UInt64.self, forKey: .repeatedBytes) ?? 0)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(state.word, forKey: .phase)
        try container.encode(completedBytes, forKey: .completedBytes)
        try container.encodeIfPresent(totalBytes, forKey: .totalBytes)
        // JSON has no infinity.
        try container.encodeIfPresent(bytesPerSecond.flatMap { $0.isFinite ? $0 : nil }, forKey: .bytesPerSecond)
        try container.encodeIfPresent(secondsLeft.flatMap { $0.isFinite ? $0 : nil }, forKey: .secondsLeft)
        try container.encode(connections, forKey: .connections)
        try container.encodeIfPresent(source, forKey: .source)
        try container.encodeIfPresent(state.hold.flatMap { $0 == .paused ? nil : $0.rawValue }, forKey: .waitingFor)
        if case .retrying(let attempt, let limit) = state {
            try container.encode(attempt, forKey: .attempt)
            try container.encode(limit, forKey: .attempts)
        }
        if repeatedBytes > 0 { try container.encode(repeatedBytes, forKey: .repeatedBytes) }
    }
}
