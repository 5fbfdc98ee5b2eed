import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// Builds the prompt of a turn.
///
/// ```
/// system:    identity, actions, facts           changes rarely; in the short form the identity
/// history:   earlier messages as they were sent never changes
/// user:      results of the last turn, the question, then the changing tail: time, events, reminders; in the short form
///            also the actions that the question suggests
/// ```
/// Each message is kept as it was sent, so the engine reuses all tokens but those of the newest question with its tail. A
/// section of the tail is repeated only when its text has changed.
package struct PromptBuilder: Sendable {
    package var texts = AssistantTexts()
    /// The enabled actions; see ``ActionRegistry``.
    package var actions: [PromptAction]
    package var sources: [any PromptSource]

    /// The texts of a turn.
    package struct Prompt: Sendable, Hashable {
        /// The system message.
        package var system: String
        /// The sections behind the question; empty for none.
        package var tail: String
        /// The actions that the prompt describes.
        package var tags: [ActionTag] = []
        /// The bytes of the system message's beginning that hold nothing about the user.
        package var ownBytes = 0
    }

    /// The number of the newest messages in which an unchanged section is not repeated.
    package static let rememberedMessages = 12

    /// The most actions that the words of a question suggest.
    private static let suggestedActions = 2
    /// The tokens of the short form that stand between its parts.
    private static let joints = 10

    /// Builds the system message and the tail.
    /// - Parameters:
    ///   - question: the newest question, whose words choose the parts of the short form.
    ///   - act: the action that the answer has to be. The smaller forms describe it too.
    ///   - history: the texts of the earlier messages as they are sent.
    ///   - window: the tokens of the context window.
    package func build(
        _ form: PromptForm = .full, of question: String = "", act: ActionTag? = nil, at moment: PromptMoment,
        history: [String], window: Int, meter: TokenMeter
    ) async -> Prompt {
        if form == .plain, act == nil { return Prompt(system: "", tail: "") }
        let sections = form == .full ? await whole(at: moment) : await suggested(form, question, act, at: moment)
        let budget =
            form == .full ? PromptBudget(window: window) : PromptBudget(tokens: PromptForm.shortTokens - Self.joints)
        let kept = await budget.fit(sections, meter)
        let instructions = kept.filter { $0.place == .instructions }
        let system = instructions.map(\.marked).joined(separator: "\n\n")
        // Sections with a name come from sources.
        let own = instructions.prefix { $0.name.isEmpty }.map(\.marked).joined(separator: "\n\n")
        let known = Self.lastSections(of: history.suffix(Self.rememberedMessages))
        let tail = kept.filter { $0.place == .tail && known[$0.key] != $0.escapedText }.map(\.marked)
        let tags = form == .full ? actions.map(\.tag) : kept.compactMap(\.action)
        return Prompt(system: system, tail: tail.joined(separator: "\n"), tags: tags, ownBytes: own.utf8.count)
    }

    /// The sections of the full form.
    private func whole(at moment: PromptMoment) async -> [PromptSection] {
        var sections = [
            PromptSection(text: texts.identity, priority: PromptSection.required, place: .instructions),
            PromptSection(text: texts.data, priority: PromptSection.required, place: .instructions),
        ]
        if !actions.isEmpty {
            let lines = [texts.actions] + actions.map(\.line)
            sections.append(
                PromptSection(text: lines.joined(separator: "\n"), priority: 100, place: .instructions))
        }
        return sections + (await recorded(at: moment))
    }

    /// The sections that the words of a question or an asked action suggest.
    private func suggested(
        _ form: PromptForm, _ question: String, _ act: ActionTag?, at moment: PromptMoment
    ) async -> [PromptSection] {
        var words = act.map { PromptWords(for: $0) } ?? PromptWords()
        var sections: [PromptSection] = []
        if form == .short {
            words = PromptWords(of: question, offered: actions.map(\.tag))
            if let act { words.put(first: act) }
            sections.append(
                PromptSection(text: texts.shortIdentity, priority: PromptSection.required, place: .instructions))
        }
        let chosen = words.tags.compactMap { tag in actions.first { $0.tag == tag } }.prefix(Self.suggestedActions)
        for (place, action) in chosen.enumerated() {
            var lines = action.shortLines
            if place == 0 { lines[0] = texts.shortActions + " " + lines[0] }
            sections.append(
                PromptSection(
                    text: lines.joined(separator: "\n"), priority: 100 - place, action: action.tag))
        }
        let records = await recorded(at: moment).filter(words.includes)
            .map { $0.name == MomentSource.name ? MomentSource.short(at: moment) : $0 }
        if records.contains(where: { $0.source != nil }) {
            sections.append(PromptSection(text: texts.data, priority: 90))
        }
        return sections + records
    }

    /// The sections of the sources.
    private func recorded(at moment: PromptMoment) async -> [PromptSection] {
        var sections: [PromptSection] = []
        for source in sources {
            do {
                sections += try await source.sections(at: moment).filter { !$0.text.isEmpty }
            } catch {
                Log.write(.warning, "assistant", "a part of the prompt is missing: \(error)")
            }
        }
        return sections
    }

    /// The question with what is sent beside it.
    /// - Parameter files: the texts of its documents with their marks.
    package static func question(
        _ text: String, results: [MessageResult], files: [String] = [], tail: String
    ) -> String {
        let results = results.map { PromptMarks.marked($0.text, as: "results", source: $0.source) }
        // A question may be nothing but its documents.
        let words = files.isEmpty || !text.isEmpty ? [text] : []
        return (results + files + words + (tail.isEmpty ? [] : [tail])).joined(separator: "\n\n")
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
