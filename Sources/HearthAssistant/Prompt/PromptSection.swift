import Foundation

/// A part of the prompt.
public struct PromptSection: Sendable, Hashable {
    /// Where a section stands, which follows from how often its text changes.
    public enum Place: Sendable, Hashable {
        /// In the system message: the text rarely changes, so that the engine reuses the computed tokens.
        case instructions
        /// Behind the newest question: the text changes between turns, such as today's events.
        case tail
    }

    /// Whether a section may leave for the cloud.
    public enum Sharing: Sendable, Hashable {
        /// The setting `cloud.shares` decides: by the section's name if it lists that, otherwise with the message.
        case bySetting
        /// The section stays on the device.
        case never
    }

    /// Lower-case letters, such as `calendar`. The section stands between marks of this name; an empty name has no marks.
    public var name: String
    public var text: String
    /// Sections of lower priority are left out first; ``required`` ones never are.
    public var priority: Int
    public var place: Place
    public var sharing: Sharing

    /// The priority of a section that is always part of the prompt.
    public static let required = Int.max

    public init(
        name: String = "", text: String, priority: Int = 0, place: Place = .tail, sharing: Sharing = .bySetting
    ) {
        self.name = name
        self.text = text
        self.priority = priority
        self.place = place
        self.sharing = sharing
    }
}

/// The moment of a question.
public struct PromptMoment: Sendable, Hashable {
    public var now: Date
    public var timeZone: TimeZone
    public var locale: Locale

    public init(now: Date, timeZone: TimeZone = .current, locale: Locale = .current) {
        self.now = now
        self.timeZone = timeZone
        self.locale = locale
    }
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
public protocol PromptSource: Sendable {
    /// The sections at a moment. If the method throws, the prompt has none of this source.
    func sections(at moment: PromptMoment) async throws -> [PromptSection]
}
