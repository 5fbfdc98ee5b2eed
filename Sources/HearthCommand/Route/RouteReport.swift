import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthRouting

/// What `hearth route` shows: the decision now, and what it depends on.
struct RouteReport: Encodable, Sendable {
    let source: RouteSource
    let reason: String
    let text: String
    let trace: [String]
    @OrNull var cloud: String?
    @OrNull var address: String?
    let tier: String
    @OrNull var creditsLeft: Int?
    let network: String
    let health: String
    let breaker: String
    /// The failure of the cloud's check just now.
    let problem: DoctorReport.Finding?
    let decisions: [RouteRecord.Entry]

    /// Evaluates the rules for a request without needs of its own.
    init(
        _ route: Route, at now: Duration, cloud: CloudModel?, network condition: NetworkCondition, record: RouteRecord,
        problem: DoctorReport.Finding?
    ) {
        let decision = route.assess(RouteRequest(), at: now)
        (source, reason, text, trace) = (decision.source, decision.reasonCode, decision.reasonText, decision.trace)
        self.cloud = cloud?.name
        address = route.policy.endpoint
        tier = route.policy.tier
        creditsLeft = route.policy.credits
        network =
            route.policy.isThisMachine
            ? "not needed" : condition.isOnline ? condition.isMetered ? "online, metered" : "online" : "offline"
        health = route.health.last.map { $0.isHealthy ? "healthy" : "failed" } ?? "not checked"
        breaker = route.breaker.openUntil.map { $0 > now ? "open" : "half open" } ?? "closed"
        self.problem = problem
        decisions = record.decisions.reversed()
    }

    /// The decision on a line.
    var change: String {
        "\(source.rawValue): \(text)" + (problem.map { ": \(TerminalText.singleLine($0.message)) [\($0.code)]" } ?? "")
    }

    /// The report for people.
    var lines: [String] {
        var lines = ["\(source.rawValue): \(text)"]
        if let problem { lines += [""] + problem.lines }
        lines.append("")
        if let cloud, let address {
            lines += [
                "cloud     \(cloud) at \(address)", "tier      \(tier)",
                "credits   \(creditsLeft.map { "\($0) left this month" } ?? "not counted")",
                "network   \(network)", "health    \(health)", "breaker   \(breaker)",
            ]
        } else {
            lines.append("cloud     not set up; to set one up: hearth config set cloud.kind gemini")
        }
        guard !decisions.isEmpty else { return lines }
        let columns: [Column<RouteRecord.Entry>] = [
            .left("TIME") { $0.date.formatted(.iso8601) }, .left("SOURCE") { $0.source.rawValue },
            .left("REASON") { $0.text },
        ]
        return lines + ["", "last decisions:"] + columns.lines(of: decisions)
    }
}
