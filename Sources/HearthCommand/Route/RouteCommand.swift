import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthRouting

/// `hearth route`
struct RouteCommand: Command {
    private static let watch = Flag("watch", "Keep running, and print a line at each change.")
    private static let format = Option(
        "format", "FORMAT", ValueKind<EventFormat>.choice, default: "text", "text, or json for programs.")

    static let declaration = CommandDeclaration(
        "route", summary: "Show whether a local model or the cloud answers, and why",
        discussion: [
            "Looks at the settings, the network, the credits and the cloud afresh; the cloud is asked whether it works, with a "
                + "request that is never billed. Below, the last ten decisions of 'hearth chat', without any text of a conversation.",
            "With --watch, every two seconds; with --format json, one object, or with --watch one object a line.",
        ],
        options: [watch, format],
        examples: [
            .init("hearth route", "See who would answer now."),
            .init("hearth route --watch", "Follow it while the network comes and goes."),
        ])

    /// The time between two evaluations.
    private static let interval: Duration = .seconds(2)

    let isWatching: Bool
    let format: EventFormat

    init(_ values: ParsedArguments) throws {
        isWatching = values.has(Self.watch)
        format = try values.value(Self.format) ?? .text
    }

    func run(in context: CommandContext) async throws {
        guard isWatching else {
            let report = try await report(in: context)
            switch format {
            case .json: try context.console.print(JSONText.pretty(report))
            case .text: for line in report.lines { try context.console.print(line) }
            }
            return
        }
        var last: [String] = []
        while true {
            let report = try await report(in: context)
            let shown = [report.source.rawValue, report.reason, report.health, report.breaker, report.network]
            if shown != last {
                switch format {
                case .json: try context.console.emit(report)
                case .text: try context.console.print("\(report.source.rawValue): \(report.text)")
                }
            }
            last = shown
            try await context.time.sleep(for: Self.interval)
        }
    }

    /// Evaluates the rules now.
    private func report(in context: CommandContext) async throws -> RouteReport {
        let configuration = try await context.configuration
        let cloud = try await context.cloud(configuration)
        let folder = try context.routingFolder
        let record = try await blocking { RouteJournal.read(folder) }
        let premium =
            cloud?.premium(configuration, folder: folder, time: context.time)
            ?? PremiumManager(
                ConfiguredEntitlement(tier: configuration.tier, credits: configuration.credits, hasOwnKey: false)
                    .entitlement, folder: folder, time: context.time)
        try await premium.refresh()
        let policy = RoutePolicy(
            forceLocal: configuration.forceLocal, cloud: cloud?.engine.address, premium.rights)
        var route = Route(policy: policy, at: .zero, recorded: record.endpoint, date: context.time.now)
        // The network does not matter for a cloud on this machine.
        let network = policy.isThisMachine ? NetworkCondition.unrestricted : await context.network().reading()
        // A command that looks once does not wait for the connection to be stable.
        let stable = route.settings.firstWindow
        if cloud != nil { _ = route.handle(.network(isOnline: network.isOnline), at: .zero) }
        _ = route.handle(.tick, at: stable)
        if let cloud, route.assess(RouteRequest(), at: stable).source == .cloud {
            var isHealthy = true
            do { try await cloud.engine.checkHealth() } catch is CancellationError { throw CancellationError() } catch {
                context.console.say("The cloud did not answer: \(error)")
                isHealthy = false
            }
            route.noteCheck(isHealthy: isHealthy, at: stable)
        }
        return RouteReport(route, at: stable, cloud: cloud, network: network, record: record)
    }
}

extension NetworkMonitor {
    /// The first reading, or the assumed condition if none comes at once.
    fileprivate func reading() async -> NetworkCondition {
        for await condition in conditions() { return condition }
        return condition
    }
}
