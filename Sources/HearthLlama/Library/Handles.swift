import HearthBase

/// Counts the objects of llama.cpp in this process, by kind. Each owner of a handle counts it here, so that a long
/// run can check that all are freed.
enum Handles {
    enum Kind: String, CaseIterable {
        case weights, template, context, threads, batch, sampler, projector, bitmap, pieces, calls, tokenizer
    }

    private static let counts = Locked<[Kind: Int]>([:])

    /// The number of objects of each kind, without the kinds that have none.
    static var held: [Kind: Int] { counts.withLock { $0.filter { $0.value != 0 } } }

    static func take(_ kind: Kind) { counts.withLock { $0[kind, default: 0] += 1 } }

    static func give(_ kind: Kind) { counts.withLock { $0[kind, default: 0] -= 1 } }
}
