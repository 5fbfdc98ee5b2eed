import HearthInference

extension ChatSession {
    /// The texts of a question's documents, as far as they fit the context window beside the answer, the instructions and the
    /// question. A quarter of the rest stays free, so that the conversation can go on about them.
    func documents(
        of question: AssistantMessage, beside texts: [String], _ window: Int, _ generation: GenerationOptions,
        _ meter: TokenMeter
    ) async -> FittedDocuments {
        let documents = (question.documents ?? []).filter { !$0.text.isEmpty }
        guard !documents.isEmpty else { return FittedDocuments() }
        var taken = min(generation.maximumNewTokens, window / 4)
        for text in texts { taken += await meter.tokens(in: text) }
        return await FittedDocuments(documents, room: max(0, window - taken) * 3 / 4, meter: meter)
    }

    /// The words about a document of which only a beginning fits.
    static func words(of cut: FittedDocuments.Cut) -> String {
        "\(cut.name) (\(cut.kept) of \(cut.all) characters)"
    }
}
