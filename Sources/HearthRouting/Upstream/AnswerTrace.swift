import HearthBase

/// What became of the models that a request tried, for its reply and the log.
package final class AnswerTrace: Sendable {
    /// The trace of the present request.
    @TaskLocal package static var current: AnswerTrace?

    private let state = Locked<(answering: String?, passed: [String])>((nil, []))

    package init() {}

    /// The model that answers in the place of another name; `nil` if the request named it, or if none has begun.
    package var answering: String? { state.withLock { $0.answering } }

    /// The models that did not answer, each with a code: `vllm/qwen3-8b unreachable`.
    package var passed: [String] { state.withLock { $0.passed } }

    func answers(_ model: String) { state.withLock { $0.answering = model } }

    func pass(_ model: String, code: String) { state.withLock { $0.passed.append("\(model) \(code)") } }
}
