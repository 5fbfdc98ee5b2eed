import Foundation

/// The extent of the long suites: kills, power cuts, failing disks, swaps under load.
package enum TestExtent {
    /// Whether every case runs, as in the stages of `make verify`, instead of a seeded share that is short enough for
    /// `make test`.
    package static let isFull = ProcessInfo.processInfo.environment["HEARTH_TESTS"] == "full"

    /// Whether a case runs: always in the full extent, otherwise one case in `share`.
    package static func includes(oneIn share: Int, using generator: inout SeededGenerator) -> Bool {
        isFull || Int.random(in: 0..<share, using: &generator) == 0
    }
}
