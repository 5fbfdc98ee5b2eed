import Foundation
import HearthBase
import HearthTestSupport

@testable import HearthCatalog

/// A release of some gigabytes and many devices, with the decisions that devices make: whether the cached list still answers
/// (`CachePolicy`), and whether the release is offered to them (`Release.ineligibility`, `RolloutCohort`).
struct ScaleSimulation {
    /// The facts that a publisher chooses, or that users bring along.
    struct Scenario {
        var name: String
        /// The percentage of the rollout from each day on.
        var rollout: [(day: Int, percent: Int)] = [(0, 100)]
        /// Whether the server demands that the list is asked for each time (`Cache-Control: no-cache`).
        var mustRevalidate = true
        /// Whether all devices start the app in the half hour after the release, as after a message to all users.
        var isAnnounced = false
    }

    /// The starts of an app in each hour of a day, in parts of 100: most are in the evening.
    private static let profile = [1, 1, 1, 1, 1, 2, 3, 5, 6, 5, 4, 4, 5, 5, 4, 4, 5, 6, 7, 8, 8, 7, 5, 2]
    private static let day = 86_400
    static let days = 7
    private static let startsPerDay = 3
    private static let releaseBytes = 2e9
    /// The rate of one device in bits a second.
    private static let deviceRate = 50e6
    /// The edges of a content network that each fetch the file once from the bucket.
    static let edges = 300.0

    let devices: Int
    private(set) var updatedByDay = Array(repeating: 0, count: days)
    private(set) var starts = 0
    private(set) var checks = Array(repeating: 0, count: days * 1440)
    /// Downloads that run in each minute.
    private(set) var downloads = Array(repeating: 0, count: days * 1440)

    init(_ scenario: Scenario, devices: Int, seed: UInt64) throws {
        self.devices = devices
        var generator = SeededGenerator(seed: seed)
        let begin = Date(timeIntervalSince1970: 1_800_000_000 - 1_800_000_000.truncatingRemainder(dividingBy: 86_400))
        var offered = try release("2.0.0 rollout=100")
        var record = CachedCatalog.Record(
            location: URL(filePath: "/models.json"), asked: SHA256Digest(hashing: Data()),
            digest: SHA256Digest(hashing: Data()),
            validators: CatalogValidators(mustRevalidate: scenario.mustRevalidate), fetched: begin, checked: begin)
        let minutes = Int((Self.releaseBytes * 8 / Self.deviceRate / 60).rounded(.up))
        for _ in 0..<devices {
            let name = String(format: "%016lx%016lx", generator.next(), generator.next())
            let device = DeviceProfile(memory: .max, cohort: RolloutCohort(name))
            record.checked = .distantPast
            var isUpdated = false
            for start in Self.starts(scenario, &generator) {
                starts += 1
                let now = begin.addingTimeInterval(TimeInterval(start))
                guard !CachePolicy.asPublished.accepts(record, now: now) else { continue }
                record.checked = now
                checks[start / 60] += 1
                guard !isUpdated else { continue }
                let day = start / Self.day
                offered.rollout?.percent = scenario.rollout.last { $0.day <= day }?.percent ?? 0
                guard offered.ineligibility(on: device) == nil else { continue }
                isUpdated = true
                updatedByDay[day] += 1
                for minute in (start / 60)..<min(start / 60 + minutes, downloads.count) { downloads[minute] += 1 }
            }
        }
    }

    /// The starts of one device in seconds after the release, in order.
    private static func starts(_ scenario: Scenario, _ generator: inout SeededGenerator) -> [Int] {
        var starts = (0..<days).flatMap { day in
            (0..<startsPerDay).map { _ -> Int in
                var part = Int.random(in: 0..<profile.reduce(0, +), using: &generator)
                let hour = profile.firstIndex { share in
                    defer { part -= share }
                    return part < share
                }
                return day * Self.day + (hour ?? 0) * 3600 + Int.random(in: 0..<3600, using: &generator)
            }
        }
        if scenario.isAnnounced { starts[0] = Int.random(in: 0..<1800, using: &generator) }
        return starts.sorted()
    }

    // MARK: Results

    /// The number of all devices over that of the simulated ones.
    private func scale(to total: Int) -> Double { Double(total) / Double(devices) }

    /// The share of devices that have the release at the end of a day.
    func updated(after day: Int) -> Double { Double(updatedByDay[...day].reduce(0, +)) / Double(devices) }

    /// The most requests for the list in a second, averaged over its minute, of so many devices.
    func peakChecks(of total: Int) -> Double { Double(checks.max() ?? 0) / 60 * scale(to: total) }

    /// The requests for the list in the first day.
    func checksInFirstDay(of total: Int) -> Double { Double(checks[..<1440].reduce(0, +)) * scale(to: total) }

    /// The highest rate of all downloads together, in bits a second.
    func peakRate(of total: Int) -> Double { Double(downloads.max() ?? 0) * Self.deviceRate * scale(to: total) }

    /// The bytes that devices fetch.
    func bytes(of total: Int) -> Double { updated(after: Self.days - 1) * Double(total) * Self.releaseBytes }

    /// The share of downloads that the edges answer without the bucket.
    func hits(of total: Int) -> Double {
        let downloads = updated(after: Self.days - 1) * Double(total)
        return downloads > 0 ? max(0, 1 - Self.edges / downloads) : 0
    }
}
