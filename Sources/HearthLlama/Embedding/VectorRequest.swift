#if Llama
import HearthBase
import HearthInference

/// One caller's texts to embed.
///
/// Unchecked: only the engine's thread touches the variables.
final class VectorRequest: @unchecked Sendable {
    /// The tokens of the texts.
    let texts: [[TokenID]]
    let signal = StopSignal()
    let reply = Reply<[[Float]]>()
    private var vectors: [[Float]] = []
    private var text: TextEmbedder.Text?
    /// Identifies the load whose vocabulary cut the texts. A reference to the model would keep its memory in use
    /// while the next model is read.
    private let mark: LoadMark

    init(_ texts: [[TokenID]], _ mark: LoadMark) {
        self.texts = texts
        self.mark = mark
    }

    /// Another model was loaded: the texts must be cut again, so that one model makes all vectors.
    struct ModelChanged: Error {}

    /// - Throws: ``ModelChanged`` for another load than that of the tokens.
    func check(_ mark: LoadMark) throws(ModelChanged) {
        if self.mark !== mark { throw ModelChanged() }
    }

    /// Starts the current text again, because its context is gone.
    func restartText() { text = nil }

    /// Computes one step, and delivers the vectors after the last.
    /// - Returns: whether a text is finished.
    func step(_ embedder: TextEmbedder) throws -> Bool {
        var text = try self.text ?? embedder.begin(texts[vectors.count], vectors.count)
        let vector = try embedder.step(&text, signal: signal)
        self.text = vector == nil ? text : nil
        guard let vector else { return false }
        vectors.append(vector)
        if vectors.count == texts.count { reply.finish(.success(vectors)) }
        return true
    }

    /// Whether the next step begins a text.
    var beginsText: Bool { text == nil }
    var isDone: Bool { vectors.count == texts.count }
}
#endif
