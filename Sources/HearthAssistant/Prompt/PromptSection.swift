import Foundation

/// A part of the prompt.
package struct PromptSection: Sendable, Hashable {
    /// Where a section stands, which follows from how often its text changes.
    package enum Place: Sendable, Hashable {
        /// In the system message: the text rarely changes, so that the engine reuses the computed tokens.
        case instructions
        /// Behind the newest question: the text changes between turns, such as today's events.
        case tail
    }

    /// Whether a section may leave for the cloud.
    package enum Sharing: Sendable, Hashable {
        /// The setting `cloud.shares` decides: by the section's name if it lists that, otherwise with the message.
        case bySetting
        /// The section stays on the device.
        case never
    }

    /// Lower-case letters, such as `calendar`. The section stands between marks of this name; an empty name has no marks.
    package var name = ""
    package var text: String
    /// Sections of lower priority are left out first; ``required`` ones never are.
    package var priority = 0
    package var place = Place.tail
    package var sharing = Sharing.bySetting
    /// Where the text is from, if others wrote it.
    package var source: String?
    /// The action that the section describes.
    package var action: ActionTag?

    /// The priority of a section that is always part of the prompt.
    package static let required = Int.max
}

/// The moment of a question.
package struct PromptMoment: Sendable, Hashable {
    package var now: Date
    package var timeZone = TimeZone.current
    package var locale = Locale.current
}

/// Contributes sections to each prompt, such as the user's next events.
///
/// ```swift
/// struct Weather: PromptSource {
///     func sections(at moment: PromptMoment) async throws -> [PromptSection] {
///         [PromptSection(name: "weather", text: "Sunny, 21 degrees")]
///     }
/// }
/// ```
package protocol PromptSource: Sendable {
    /// The sections at a moment. If the method throws, the prompt has none of this source.
    func sections(at moment: PromptMoment) async throws -> [PromptSection]
}

/// A section of an app: one text at each question.
struct TextSource: PromptSource {
    let name: String
    let staysHere: Bool
    let text: @Sendable (Date) async throws -> String

    func sections(at moment: PromptMoment) async throws -> [PromptSection] {
        [PromptSection(name: name, text: try await text(moment.now), sharing: staysHere ? .never : .bySetting)]
    }
}
