import Foundation
import HearthBase

/// The file of the last decisions and the cloud's state, for later processes and for people. Holds no texts of conversations.
package struct RouteRecord: DiskRecord, Hashable {
    /// A decision.
    package struct Entry: Codable, Sendable, Hashable {
        package var date: Date
        package var source: RouteSource
        /// The stable name of the reason.
        package var reason: String
        package var text: String
        package var trace: [String]

        init(_ decision: RouteDecision, at date: Date) {
            self.date = date
            source = decision.source
            (reason, text) = (decision.reasonCode, decision.reasonText)
            trace = decision.trace
        }
    }

    /// The state of one endpoint.
    package struct Endpoint: Codable, Sendable, Hashable {
        /// The address without its query.
        package var address: String
        /// The last time at which the connection was stable.
        package var stable: Date?
        /// The last answer of the endpoint.
        package var answered: Date?
        package var isHealthy: Bool?
        /// The last failures, and the end of the breaker's pause.
        package var failures: [Date]
        package var openUntil: Date?
    }

    static let format = 1
    static let maximumEntries = 10
    static let maximumFileSize = 64 << 10
    /// The age up to which a stable connection of an earlier process counts.
    static let stableAge: TimeInterval = 600

    private var format = Self.format
    package var endpoint: Endpoint?
    /// The last decisions, the oldest first.
    package var decisions: [Entry] = []

    package init() {}

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try container.require(format: Self.format, .format)
        endpoint = try container.decodeIfPresent(Endpoint.self, forKey: .endpoint)
        decisions = try container.decode([Entry].self, forKey: .decisions).suffix(Self.maximumEntries)
    }

    /// Adds decisions; of those of several processes, the last ones by date stay.
    mutating func add(_ entries: [Entry]) {
        decisions = Array((decisions + entries).sorted { $0.date < $1.date }.suffix(Self.maximumEntries))
    }
}

extension RouteRecord.Endpoint {
    /// The state of a route's endpoint, `nil` without one.
    package init?(_ route: Route, at now: Duration, date: Date) {
        guard let address = route.policy.endpoint else { return nil }
        func day(_ time: Duration) -> Date { date.addingTimeInterval((time - now).seconds) }
        self.address = address
        stable = route.link == .stable ? date : nil
        answered = route.health.last.map { day($0.time) }
        isHealthy = route.health.last?.isHealthy
        failures = route.breaker.failures.map(day)
        openUntil = route.breaker.openUntil.map(day)
    }
}

extension Route {
    /// The route at the start of a process, with what an earlier one recorded of the same endpoint. Dates that do not fit the
    /// clock are ignored.
    package init(
        policy: RoutePolicy, at now: Duration, recorded: RouteRecord.Endpoint?, date: Date
    ) {
        guard let recorded, recorded.address == policy.endpoint else {
            self.init(policy: policy, at: now)
            return
        }
        func age(_ day: Date, atMost limit: TimeInterval) -> Duration? {
            let age = date.timeIntervalSince(day)
            return age >= 0 && age <= limit ? .seconds(age) : nil
        }
        let pause = recorded.openUntil.flatMap { until -> Duration? in
            let rest = until.timeIntervalSince(date)
            return rest > 0 && rest <= CircuitBreaker.pause.seconds ? now + .seconds(rest) : nil
        }
        let failures = recorded.failures.compactMap { age($0, atMost: CircuitBreaker.window.seconds) }.map { now - $0 }
        let answer = recorded.answered.flatMap { age($0, atMost: 86_400) }.map {
            RouteHealth.Answer(time: now - $0, isHealthy: recorded.isHealthy ?? false)
        }
        let isStable = recorded.stable.flatMap { age($0, atMost: RouteRecord.stableAge) } != nil
        self.init(
            policy: policy, at: now, isStable: isStable,
            breaker: CircuitBreaker(failures: failures, openUntil: pause), health: answer)
    }
}

/// The record on the disk, written after decisions. Failures are logged: no answer depends on it.
package actor RouteJournal {
    private let folder: Path
    private let fileSystem: any FileSystem
    private var pending: [RouteRecord.Entry] = []
    private var endpoint: RouteRecord.Endpoint?
    private var hasNews = false
    private var writing: Task<Void, Never>?

    private let lockTimeout: Duration

    /// A journal in a folder, which is made if necessary.
    /// - Parameter lockTimeout: the longest wait for another process, which holds the lock for one change of the file.
    package init(
        folder: Path, fileSystem: any FileSystem = LocalFileSystem(), lockTimeout: Duration = .seconds(2)
    ) {
        self.folder = folder
        self.lockTimeout = lockTimeout
        self.fileSystem = fileSystem
    }

    /// Reads the record; empty if it is missing or broken. Blocks.
    package static func read(_ folder: Path, fileSystem: any FileSystem = LocalFileSystem()) -> RouteRecord {
        do {
            return try RouteRecord(
                data: fileSystem.contents(ofFile: path(in: folder), limit: RouteRecord.maximumFileSize))
        } catch let error as FileError where error.code == .notFound {
            return RouteRecord()
        } catch {
            Log.write(.warning, "routing", "the record of the routing cannot be read and begins anew: \(error)")
            return RouteRecord()
        }
    }

    /// Notes decisions and the endpoint's state. Returns at once; the file follows.
    package func note(_ entries: [RouteRecord.Entry], _ endpoint: RouteRecord.Endpoint?) {
        pending += entries
        self.endpoint = endpoint
        hasNews = true
        guard writing == nil else { return }
        writing = Task {
            while await write() {}
        }
    }

    /// Returns when everything noted is in the file.
    package func flush() async { await writing?.value }

    /// - Returns: whether there is more to write.
    private func write() async -> Bool {
        let entries = pending
        let endpoint = endpoint
        pending = []
        hasNews = false
        do {
            let file = LockedFile(Self.path(in: folder), fileSystem: fileSystem, timeout: lockTimeout)
            try await file.change { [folder, fileSystem] in
                var record = Self.read(folder, fileSystem: fileSystem)
                record.add(entries)
                record.endpoint = endpoint ?? record.endpoint
                return (try record.data(), ())
            }
        } catch {
            Log.write(.warning, "routing", "could not record decisions: \(error)")
        }
        if !hasNews { writing = nil }
        return hasNews
    }

    private static func path(in folder: Path) -> Path { folder.appending("route.json") }
}
