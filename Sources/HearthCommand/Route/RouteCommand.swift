import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthRouting

/// `hearth route`
struct RouteCommand: Command {
    @Flag("watch", "Keep running, and print a line at each change.") var isWatching
    @Option(.report) var format: EventFormat

    static let declaration = CommandDeclaration(
        "route", summary: "Show whether a local model or the cloud answers, and why",
        """
        Looks at the settings, the network, the credits and the cloud afresh; the cloud is asked whether it works, with
        a request that is never billed. Below, the last ten decisions of 'hearth chat', without any text of a
        conversation.

        With --watch, every two seconds; with --format json, one object, or with --watch one object a line.

        hearth route  # See who would answer now.
        hearth route --watch  # Follow it while the network comes and goes.
        """)

    /// The time between two evaluations.
    private static let interval: Duration = .seconds(2)

    func run(in context: CommandContext) async throws {
        guard isWatching else {
            let (report, _) = try await report(in: context)
            return try context.console.print(report, format, report.lines)
        }
        var last: [String] = []
        let watch = context.time.stopwatch()
        var earlier: Route?
        while true {
            let (report, route) = try await report(after: earlier, at: watch.elapsed, in: context)
            earlier = route
            let shown = [
                report.source.rawValue, report.reason, report.health, report.breaker, report.network,
                report.problem?.message ?? "",
            ]
            if shown != last {
                switch format {
                case .json: try context.console.emit(report)
                case .text: try context.console.print(report.change)
                }
            }
            last = shown
            try await context.time.sleep(for: Self.interval)
        }
    }

    /// Evaluates the rules now.
    /// - Parameter earlier: the last evaluation, whose view of the connection goes on.
    private func report(
        after earlier: Route? = nil, at now: Duration = .zero, in context: CommandContext
    ) async throws -> (RouteReport, Route) {
        let configuration = try await context.configuration
        let cloud = try await context.cloud(configuration)
        let folder = try context.routingFolder
        let record = await blocking { RouteJournal.read(folder) }
        let premium = PremiumManager(configuration, for: cloud, folder: folder, time: context.time)
        try await premium.refresh()
        let policy = RoutePolicy(
            forceLocal: configuration.forceLocal, cloud: cloud?.engine.address, premium.rights)
        var route = Route(policy: policy, at: now, recorded: record.endpoint, date: context.time.now)
        // A first look does not wait for the connection to be stable.
        route.continueLink(of: earlier)
        // The network does not matter for a cloud on this machine.
        let network = policy.isThisMachine ? NetworkCondition.unrestricted : await context.network().reading()
        if cloud != nil { _ = route.handle(.network(isOnline: network.isOnline), at: now) }
        let decision = route.assess(RouteRequest(), at: now)
        var failure: (any Error)?
        if let cloud, decision.source == .cloud || decision.reason == .checking {
            do {
                try await cloud.engine.checkHealth()
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                failure = error
            }
            route.noteCheck(isHealthy: failure == nil, at: now)
        }
        let report = RouteReport(
            route, at: now, cloud: cloud, network: network, record: record,
            problem: failure.map { DoctorReport.Finding($0) })
        return (report, route)
    }
}
