/// The decision about one picture of a character: the answer, who gave it, and why.
public struct DecodedCharacter: Sendable, Hashable {
    /// The worth of the answer.
    public enum Verdict: String, Sendable, Hashable, Codable {
        /// This device is sure: green.
        case accepted
        /// This device is fairly sure: yellow.
        case uncertain
        /// The cloud was asked, and answered.
        case verified
        /// This device is not sure, and the cloud gave no usable answer.
        case unverified
    }

    /// The answering side.
    package enum Source: String, Sendable, Hashable, Codable { case device, cloud }

    /// The place of the picture in the request, from 0.
    public var index: Int
    /// The character or label; empty if the classifier gave none.
    public var text: String
    /// The candidates of this device, also after an answer of the cloud.
    public var candidates: [Candidate]
    public var verdict: Verdict
    package var source: Source
    package var reason: DecodingReason
    /// The number of its column or row on a page, in reading order from 0.
    public var line = 0

    /// A stable name of the rule that decided, such as `certain`.
    public var reasonCode: String { reason.code }
    /// The rule for people, without a full stop.
    public var reasonText: String { reason.text }

    /// The confidence of this device in its likeliest class; `nil` if it has none.
    public var confidence: Double? { candidates.first.flatMap { $0.confidence.isFinite ? $0.confidence : nil } }
}

/// The rule that decided about a picture.
package enum DecodingReason: Sendable, Hashable {
    /// At or above the green threshold.
    case certain
    /// Between the thresholds.
    case uncertain
    /// The cloud read the picture.
    case askedCloud
    /// The cloud read an equal picture before.
    case knownPicture
    /// No cloud is set up.
    case cloudMissing
    /// The user did not consent.
    case notAllowed
    /// The cloud's answer was not one character.
    case unusableReply
    /// The most requests were sent.
    case requestLimit
    /// The most tokens were used.
    case tokenLimit
    /// The time for the cloud was over.
    case timeLimit
    /// The cloud failed; its error code.
    case cloudFailed(String)

    /// A stable name for programs.
    package var code: String { words.code }
    /// The reason for people, without a full stop.
    package var text: String { words.text }

    private var words: (code: String, text: String) {
        switch self {
        case .certain: ("certain", "this device is sure")
        case .uncertain: ("uncertain", "this device is fairly sure")
        case .askedCloud: ("asked-cloud", "the cloud was asked")
        case .knownPicture: ("known-picture", "the cloud read an equal picture before")
        case .cloudMissing: ("cloud-missing", "no cloud is set up")
        case .notAllowed: ("not-allowed", "the cloud may not be asked")
        case .unusableReply: ("unusable-reply", "the cloud did not answer with one character")
        case .requestLimit: ("request-limit", "the most requests to the cloud were sent")
        case .tokenLimit: ("token-limit", "the most tokens of the cloud were used")
        case .timeLimit: ("time-limit", "the time for the cloud was over")
        case .cloudFailed(let code): (code, "the cloud failed (\(code))")
        }
    }
}

/// The limits of questions to the cloud in one request.
package struct EscalationLimits: Sendable, Hashable {
    /// The most requests: 50.
    package var requests = 50
    /// No request begins after so many tokens were billed: 50,000.
    package var tokens = 50_000
    /// No request begins after this time since the consent: 60 s.
    package var time: Duration = .seconds(60)
    /// The requests at a time: 4.
    package var parallel = 4

    /// The usual limits.
    package init() {}
}

/// The question to the user whether pictures may be sent to the cloud.
public struct EscalationOffer: Sendable, Hashable {
    /// The pictures that this device is not sure about.
    public var pictures: Int
    /// The requests that would be sent, each billed as one message.
    public var requests: Int
    /// The most tokens that begin to be billed.
    public var tokenLimit: Int

    package init(pictures: Int, requests: Int, tokenLimit: Int) {
        (self.pictures, self.requests, self.tokenLimit) = (pictures, requests, tokenLimit)
    }
}
