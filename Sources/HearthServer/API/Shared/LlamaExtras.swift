import HearthInference

/// llama.cpp's extensions of other dialects.
struct LlamaExtras: Sendable, Hashable {
    /// Whether each piece carries the times so far.
    var timesEachPiece = false
    /// Whether the progress of the prompt is reported.
    var reportsProgress = false
    /// Whether the reply shows the prompt and the settings.
    var isVerbose = false

    init() {}

    init(_ fields: Fields) throws(APIFailure) {
        timesEachPiece = try fields.flag("timings_per_token") ?? false
        reportsProgress = try fields.flag("return_progress") ?? false
        isVerbose = try fields.flag("verbose") ?? false
    }
}
