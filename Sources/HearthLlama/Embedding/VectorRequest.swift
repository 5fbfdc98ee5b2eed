#if Llama
    import HearthBase
    import HearthInference

    /// Texts whose vectors were asked for.
    ///
    /// Unchecked: all but the constants is touched on the engine's thread only.
    final class VectorRequest: @unchecked Sendable {
        let texts: [String]
        let signal = StopSignal()
        let reply = Reply<[[Float]]>()
        private var vectors: [[Float]] = []
        private var text: TextEmbedder.Text?
        /// The load that made the vectors until now. Not the model: kept here, its memory would not be free while the next one is read.
        private var mark: LoadMark?

        init(_ texts: [String]) { self.texts = texts }

        /// Starts again if another model is to make the vectors: all of them are one model's.
        func use(_ mark: LoadMark) {
            if self.mark !== mark { (vectors, text) = ([], nil) }
            self.mark = mark
        }

        /// Starts the text again that is being computed, as its context is gone.
        func restartText() { text = nil }

        /// Computes one step, and delivers the vectors after the last.
        /// - Returns: whether a text is done.
        func step(_ embedder: TextEmbedder) throws -> Bool {
            var text = try self.text ?? embedder.begin(texts[vectors.count], vectors.count)
            let vector = try embedder.step(&text, signal: signal)
            self.text = vector == nil ? text : nil
            guard let vector else { return false }
            vectors.append(vector)
            if vectors.count == texts.count { reply.finish(.success(vectors)) }
            return true
        }

        /// The next step begins a text.
        var beginsText: Bool { text == nil }
        var isDone: Bool { vectors.count == texts.count }
    }
#endif
