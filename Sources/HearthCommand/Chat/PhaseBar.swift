import HearthInference

/// Shows the phases before an answer's text on the terminal's last line.
struct PhaseBar: Sendable {
    let console: Console
    /// The share of a model's load that was shown last.
    private var loaded: Int?

    init(_ console: Console) { self.console = console }

    /// Shows a phase.
    /// - Parameter model: the name of the model that is asked in the cloud.
    mutating func show(_ phase: GenerationPhase, model: String) {
        switch phase {
        case .prefill(let done, let total):
            if total > 512, console.errors.isTerminal {
                console.showBar("reading the prompt: \(done) of \(total) tokens")
            }
        case .loading(let fraction):
            // In steps of five: each one draws the line anew.
            let percent = fraction.map { Int(max(0, min(1, $0)) * 20) * 5 }
            guard percent == nil || percent != loaded else { break }
            loaded = percent
            console.showBar("loading the local model" + (percent.map { "  \($0)%" } ?? ""))
        case .connecting: console.showBar("connecting to \(model.shownOnTerminal)")
        case .decode: console.showBar(nil)
        }
    }
}
