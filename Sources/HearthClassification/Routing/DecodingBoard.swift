import HearthBase

/// Decides about the pictures of one request: which answers count, which pictures are sent to the cloud, and in which order
/// results leave. A value: it sends nothing and knows no clock.
struct DecodingBoard: Sendable {
    /// An answer of the cloud.
    enum Reading: Sendable, Hashable {
        case reading(CharacterReading)
        /// The code of the error.
        case failed(String)
    }

    private let thresholds: RoutingThresholds
    private let limits: EscalationLimits
    private let hasCloud: Bool
    private var results: [DecodedCharacter?]
    private var answers: [Int: [Candidate]] = [:]
    private var taken = 0
    /// The undecided pictures, equal ones together, in the order of their first.
    private var groups: [(digest: SHA256Digest, members: [Int])] = []
    private var nextGroup = 0
    private var requests = 0
    private var tokens = 0
    private var failuresInARow = 0

    /// The failures in a row after which no further request is sent.
    private static let maximumFailures = 2

    /// A board for so many pictures.
    init(count: Int, thresholds: RoutingThresholds, limits: EscalationLimits, hasCloud: Bool) {
        (self.thresholds, self.limits, self.hasCloud) = (thresholds, limits, hasCloud)
        results = [DecodedCharacter?](repeating: nil, count: count)
    }

    // MARK: This device

    /// Notes the classifier's answer to a picture.
    /// - Parameters:
    ///   - answer: `nil` if the classifier failed.
    ///   - known: the character that the cloud read in an equal picture before.
    ///   - makeDigest: computes the picture's digest, only for a picture that this device is not sure about.
    mutating func note(
        _ answer: [Candidate]?, of index: Int, known: (SHA256Digest) -> String?,
        digest makeDigest: () -> SHA256Digest
    ) {
        // No comparison with NaN is true, so an answer without a number is unsure.
        if let best = answer?.first, best.confidence >= thresholds.yellow {
            let isGreen = best.confidence >= thresholds.green
            let verdict = isGreen ? DecodedCharacter.Verdict.accepted : .uncertain
            return decide(index, answer, best.label, verdict, .device, isGreen ? .certain : .uncertain)
        }
        guard hasCloud else { return keep(index, answer, .cloudMissing) }
        let digest = makeDigest()
        if let character = known(digest) {
            return decide(index, answer, character, .verified, .cloud, .knownPicture)
        }
        answers[index] = answer
        if let place = groups.firstIndex(where: { $0.digest == digest }) {
            groups[place].members.append(index)
        } else {
            groups.append((digest, [index]))
        }
    }

    // MARK: The cloud

    /// The question to the user; `nil` if nothing would be sent.
    var offer: EscalationOffer? {
        guard !groups.isEmpty else { return nil }
        return EscalationOffer(
            pictures: groups.reduce(0) { $0 + $1.members.count }, requests: min(groups.count, limits.requests),
            tokenLimit: limits.tokens)
    }

    /// Keeps the answers of this device for all pictures that were not sent.
    mutating func refuse(_ reason: DecodingReason) {
        for group in groups[nextGroup...] { keep(group.members, reason) }
        nextGroup = groups.count
    }

    /// The next picture to send; `nil` if none is left or a limit is reached, after which the others are decided.
    mutating func next(elapsed: Duration) -> Int? {
        guard nextGroup < groups.count else { return nil }
        let limit: DecodingReason? =
            if requests >= limits.requests {
                .requestLimit
            } else if tokens >= limits.tokens {
                .tokenLimit
            } else if elapsed >= limits.time {
                .timeLimit
            } else {
                nil
            }
        if let limit {
            refuse(limit)
            return nil
        }
        requests += 1
        nextGroup += 1
        return groups[nextGroup - 1].members.first
    }

    /// Notes the cloud's answer to a picture that ``next(elapsed:)`` gave.
    /// - Returns: the digest and the character, to be remembered; `nil` if the answer is unusable.
    mutating func note(_ reading: Reading, of index: Int) -> (digest: SHA256Digest, character: String)? {
        guard let group = groups.first(where: { $0.members.first == index }) else { return nil }
        switch reading {
        case .reading(let reading):
            failuresInARow = 0
            tokens += max(0, reading.tokens)
            guard let character = reading.character else {
                keep(group.members, .unusableReply)
                return nil
            }
            for member in group.members { decide(member, answers[member], character, .verified, .cloud, .askedCloud) }
            return (group.digest, character)
        case .failed(let code):
            failuresInARow += 1
            keep(group.members, .cloudFailed(code))
            // A cloud that is offline, out of credits or forbidden stays so for the next pictures.
            if failuresInARow >= Self.maximumFailures { refuse(.cloudFailed(code)) }
            return nil
        }
    }

    // MARK: Results

    /// The results that are decided and whose predecessors are, each once.
    mutating func take() -> [DecodedCharacter] {
        var ready: [DecodedCharacter] = []
        while taken < results.count, let result = results[taken] {
            ready.append(result)
            taken += 1
        }
        return ready
    }

    private mutating func keep(_ members: [Int], _ reason: DecodingReason) {
        for member in members { keep(member, answers[member], reason) }
    }

    private mutating func keep(_ index: Int, _ answer: [Candidate]?, _ reason: DecodingReason) {
        decide(index, answer, answer?.first?.label ?? "", .unverified, .device, reason)
    }

    private mutating func decide(
        _ index: Int, _ answer: [Candidate]?, _ text: String, _ verdict: DecodedCharacter.Verdict,
        _ source: DecodedCharacter.Source, _ reason: DecodingReason
    ) {
        results[index] = DecodedCharacter(
            index: index, text: text, candidates: answer ?? [], verdict: verdict, source: source,
            reason: reason)
    }
}
