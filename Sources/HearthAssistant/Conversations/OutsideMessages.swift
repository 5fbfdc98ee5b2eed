import HearthInference
import HearthRouting

extension [AssistantMessage] {
    /// The texts of other programs' conversations: others may have written them.
    var importedTexts: [OutsideText] {
        filter { ImportedConversation.isForeign($0.id) }
            .map { OutsideText(source: "imported conversation", text: $0.content) }
    }

    /// The texts from outside in a kept conversation: those of its questions, and the results that others wrote.
    var outsideTexts: [OutsideText] {
        importedTexts
            + flatMap { message in
                let sections =
                    message.role == .user ? PromptMarks.sections(in: message.rawContent ?? message.content) : []
                return sections.compactMap { section in
                    section.source.map { OutsideText(source: $0, text: section.text) }
                }
                    + (message.results ?? []).compactMap { result in
                        result.source.map { OutsideText(source: $0, text: result.text) }
                    }
            }
    }
}
