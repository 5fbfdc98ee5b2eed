/// The confidences that divide a classifier's answers into bands. By default, those of seed 002.
package struct RoutingThresholds: Sendable, Hashable {
    /// From this confidence on, an answer is accepted.
    package var green = 0.90
    /// From this confidence on, an answer is accepted as uncertain. Below it, the cloud is asked.
    package var yellow = 0.60
}
