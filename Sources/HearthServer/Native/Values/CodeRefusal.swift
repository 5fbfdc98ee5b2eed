import HearthHTTP

extension OneTimeCodes.Refusal {
    /// The refusal for clients.
    var failure: NativeFailure {
        switch self {
        case .wrong: NativeFailure(403, "unknown-code", "the code is wrong", remedy: Self.remedy, field: "code")
        case .used: NativeFailure(403, "used-code", "the code was used already", remedy: Self.remedy, field: "code")
        case .old: NativeFailure(403, "old-code", "the code is too old", remedy: Self.remedy, field: "code")
        case .tooOften(let seconds):
            NativeFailure(
                429, "too-many-codes", "too many wrong codes were tried", remedy: "Try again in \(seconds) s.",
                field: "code")
        }
    }

    private static let remedy = "Ask for another."

    /// The reply, with the seconds to wait.
    var reply: ServerReply {
        var reply = failure.reply
        if case .tooOften(let seconds) = self { reply.headers["Retry-After"] = "\(seconds)" }
        return reply
    }
}
