import Hearth
import HearthBase
import HearthRouting

/// The cloud of the settings and the user's rights for it, or why it cannot be used.
struct ServedCloud: Sendable {
    /// `nil` for no cloud.
    let model: CloudModel?
    let premium: PremiumManager
    /// Why the cloud of the settings cannot be used, in a sentence.
    let problem: String?

    init(_ settings: Configuration, of hearth: Hearth) async {
        do {
            model = try await hearth.cloud(settings)
            problem = nil
        } catch {
            model = nil
            problem = (error as? any HearthFailure)?.errorDescription ?? "\(error)"
        }
        premium = hearth.premium(settings, for: model)
    }
}
