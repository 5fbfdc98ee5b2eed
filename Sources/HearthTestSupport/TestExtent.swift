import Foundation

/// The extent of the long suites: kills, power cuts, failing disks, swaps under load.
package enum TestExtent {
    /// Whether every case is tried, as the stages of `make verify` do, instead of a seeded share that fits `make test`.
    package static let isFull = ProcessInfo.processInfo.environment["HEARTH_TESTS"] == "full"

    /// Whether a case is tried: always in full, else one case in `share`.
    package static func includes(oneIn share: Int, using generator: inout SeededGenerator) -> Bool {
        isFull || Int.random(in: 0..<share, using: &generator) == 0
    }
}
