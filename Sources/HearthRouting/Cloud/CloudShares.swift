import HearthInference

/// The sections of a conversation that may leave for the cloud. The text of the newest question always does, without the
/// marked sections that stay.
package struct CloudShares: Sendable, Hashable {
    package enum Section: String, Sendable, CaseIterable {
        /// The system prompt.
        case instructions
        /// The messages before the newest question.
        case history
        /// Pictures, those of the newest question too.
        case pictures
        /// The user's appointments in a prompt.
        case calendar
        /// The user's open reminders in a prompt.
        case reminders
        /// The facts that the user has noted about themselves.
        case facts
        /// The results of earlier lists and searches: notes, contacts, habits, web pages.
        case results
    }

    package var sections: Set<Section>

    package static let all = CloudShares(sections: Set(Section.allCases))

    package init(sections: Set<Section>) { self.sections = sections }

    /// Reads the names of sections, separated by commas, or `none`; `nil` for other words.
    package init?(_ text: String) {
        guard text != "none" else {
            sections = []
            return
        }
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        let known = names.compactMap { Section(rawValue: String($0)) }
        guard known.count == names.count else { return nil }
        sections = Set(known)
    }

    /// The text that ``init(_:)`` reads.
    package var text: String {
        let names = Section.allCases.filter(sections.contains).map(\.rawValue)
        return names.isEmpty ? "none" : names.joined(separator: ",")
    }

    /// A conversation without the sections that stay on the device, and the number of its pictures that stay.
    func shared(_ messages: [ChatMessage]) -> (messages: [ChatMessage], withheldPictures: Int) {
        let question = messages.lastIndex { $0.role == .user } ?? messages.startIndex
        var shared = messages.indices.filter { index in
            messages[index].role == .system
                ? sections.contains(.instructions) : index >= question || sections.contains(.history)
        }
        .map { messages[$0] }
        let withheldSections = Set(Section.allCases).subtracting(sections).map(\.rawValue)
        for index in shared.indices where shared[index].role == .system || shared[index].role == .user {
            shared[index].content = PromptMarks.removing(Set(withheldSections), from: shared[index].content)
        }
        guard !sections.contains(.pictures) else { return (shared, 0) }
        var withheld = 0
        for index in shared.indices {
            withheld += shared[index].images.count
            shared[index].images = []
        }
        return (shared, withheld)
    }
}
