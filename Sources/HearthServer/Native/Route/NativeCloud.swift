import HearthRouting

/// The cloud model of the settings, and the user's rights for it.
package struct NativeCloud: Sendable {
    /// `nil` for no cloud.
    package var engine: (any RemoteEngine)?
    /// The model's name for people.
    package var name: String?
    package var hasOwnKey: Bool
    package var premium: PremiumManager
    /// Why the cloud of the settings cannot be used, in a sentence.
    package var problem: String?

    package init(
        engine: (any RemoteEngine)? = nil, name: String? = nil, hasOwnKey: Bool = false, premium: PremiumManager,
        problem: String? = nil
    ) {
        self.engine = engine
        self.name = name
        self.hasOwnKey = hasOwnKey
        self.premium = premium
        self.problem = problem
    }
}
