import HearthBase
import HearthInference

/// The errors of a request that the user's rights do not include.
enum CreditRefusal {
    static func notEntitled(_ tier: Tier) -> LLMError {
        LLMError(
            .notEntitled, "the tier \(tier) does not include the cloud",
            context: ErrorContext(found: tier.name, remedy: "Use a local model, or choose a tier with the cloud."))
    }

    static func noCredits(_ allowance: Int) -> LLMError {
        LLMError(
            .noCredits, "the \(allowance) credits of this month are spent",
            context: ErrorContext(
                expected: "\(allowance)", found: "0",
                remedy: "Use a local model until the next month begins (UTC), or choose a tier with more."))
    }
}
