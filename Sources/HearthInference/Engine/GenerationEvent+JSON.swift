/// The wire form: `phase` is `load`, `connect`, `prefill` or `decode`.
extension GenerationPhase: Codable {
    private enum CodingKeys: CodingKey { case phase, fraction, doneTokens, totalTokens }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let fraction = try container.decodeIfPresent(Double.self, forKey: .fraction)
        let done = try container.decodeIfPresent(Int.self, forKey: .doneTokens)
        let total = try container.decodeIfPresent(Int.self, forKey: .totalTokens)
        switch try container.decode(String.self, forKey: .phase) {
        case "load": self = .loading(fraction: fraction)
        case "connect": self = .connecting
        case "prefill": self = .prefill(done: done ?? 0, total: total ?? 0)
        default: self = .decode
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .loading(let fraction):
            try container.encode("load", forKey: .phase)
            try container.encodeIfPresent(fraction.flatMap { $0.isFinite ? $0 : nil }, forKey: .fraction)
        case .connecting: try container.encode("connect", forKey: .phase)
        case .prefill(let done, let total):
            try container.encode("prefill", forKey: .phase)
            try container.encode(done, forKey: .doneTokens)
            try container.encode(total, forKey: .totalTokens)
        case .decode: try container.encode("decode", forKey: .phase)
        }
    }
}
