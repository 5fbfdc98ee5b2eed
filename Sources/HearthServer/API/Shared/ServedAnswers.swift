/// The counts of answers, the running ones and the stored responses of a process, which outlive a change of its settings.
package final class ServedAnswers: Sendable {
    let activity = ModelActivity()
    let metrics = AnswerMetrics()
    let responses: ResponseStore

    /// - Parameters:
    ///   - storedResponses: the most stored responses of `/v1/responses`.
    ///   - storedBytes: their most bytes together.
    package init(storedResponses: Int = 256, storedBytes: Int = 32 << 20) {
        responses = ResponseStore(maximumCount: storedResponses, maximumBytes: storedBytes)
    }

    /// Facts of the answers as text of Prometheus.
    package var metricsText: String { metrics.text(running: activity.running) }
}
