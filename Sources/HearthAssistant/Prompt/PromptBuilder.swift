import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// Builds the prompt of a turn.
///
/// ```
/// system:    identity, actions, facts           changes rarely
/// history:   earlier messages as they were sent never changes
/// user:      results of the last turn, the question, then the changing tail: time, events, reminders
/// ```
/// Each message is kept as it was sent, so the engine reuses all tokens but those of the newest question with its tail. A
/// section of the tail is repeated only when its text has changed.
package struct PromptBuilder: Sendable {
    package var texts = AssistantTexts()
    /// One line for each enabled action; see ``ActionRegistry``.
    package var actionLines: [String]
    package var sources: [any PromptSource]

    /// The texts of a turn.
    package struct Prompt: Sendable, Hashable {
        /// The system message.
        package var system: String
        /// The sections behind the question; empty for none.
        package var tail: String
    }

    /// The number of the newest messages in which an unchanged section is not repeated.
    package static let rememberedMessages = 12

    /// Builds the system message and the tail.
    /// - Parameters:
    ///   - history: the texts of the earlier messages as they are sent.
    ///   - window: the tokens of the context window.
    package func build(
        at moment: PromptMoment, history: [String], window: Int, meter: TokenMeter
    ) async -> Prompt {
        var sections = [
            PromptSection(text: texts.identity, priority: PromptSection.required, place: .instructions),
            PromptSection(text: texts.data, priority: PromptSection.required, place: .instructions),
        ]
        if !actionLines.isEmpty {
            let lines = [texts.actions] + actionLines
            sections.append(
                PromptSection(text: lines.joined(separator: "\n"), priority: 100, place: .instructions))
        }
        for source in sources {
            do {
                sections += try await source.sections(at: moment).filter { !$0.text.isEmpty }
            } catch {
                Log.write(.warning, "assistant", "a part of the prompt is missing: \(error)")
            }
        }
        let kept = await PromptBudget(window: window).fit(sections, meter)
        let system = kept.filter { $0.place == .instructions }.map(\.marked).joined(separator: "\n\n")
        let known = Self.lastSections(of: history.suffix(Self.rememberedMessages))
        let tail = kept.filter { $0.place == .tail && known[$0.key] != $0.escapedText }.map(\.marked)
        return Prompt(system: system, tail: tail.joined(separator: "\n"))
    }

    /// The question with what is sent beside it.
    package static func question(_ text: String, results: [MessageResult], tail: String) -> String {
        let results = results.map { PromptMarks.marked($0.text, as: "results", source: $0.source) }
        return (results + [text] + (tail.isEmpty ? [] : [tail])).joined(separator: "\n\n")
    }

    /// The last text of each section in earlier messages, by ``PromptSection/key``.
    static func lastSections(of messages: some Sequence<String>) -> [String: String] {
        var last: [String: String] = [:]
        for message in messages {
            for section in PromptMarks.sections(in: message) {
                last[PromptSection.key(section.name, isOutside: section.source != nil)] = section.text
            }
        }
        return last
    }
}

extension PromptSection {
    /// The text with its marks.
    var marked: String {
        name.isEmpty ? text : PromptMarks.marked(text, as: name, isPrivate: sharing == .never, source: source)
    }

    /// Tells the texts of others from the user's own in sections of one name.
    fileprivate static func key(_ name: String, isOutside: Bool) -> String { isOutside ? name + " outside" : name }

    fileprivate var key: String { Self.key(name, isOutside: source != nil) }

    /// The text as it stands between its marks.
    fileprivate var escapedText: String { PromptMarks.sections(in: marked).first?.text ?? text }
}
