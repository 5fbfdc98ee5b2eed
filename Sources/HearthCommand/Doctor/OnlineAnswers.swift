import Foundation
import Hearth
import HearthBase
import HearthHTTP

extension DoctorReport {
    /// Asks the addresses of the settings, and adds their answers, and a problem for each failure.
    mutating func examineOnline(in context: CommandContext) async {
        // What cannot be read asks nothing here: the examination of the home and its settings reports it.
        online = []
        guard let configuration = try? await context.configuration else { return }
        let cloud = try? await context.cloud(configuration)
        let examination = OnlineExamination(
            configuration, environment: context.environment, home: try? context.home,
            cloud: cloud.map { ($0.name, $0.engine) }, http: DefaultHTTPClient(version: HearthCommand.version),
            time: context.time)
        let results = await examination.answers()
        online = results.map(\.0)
        for (answer, error) in results {
            guard let error else { continue }
            var finding = DoctorReport.Finding(error)
            finding.message = "\(answer.name): \(finding.message)"
            finding.cure = finding.cure ?? answer.outcome.cure
            findings.append(finding)
        }
    }
}

extension OnlineExamination.Answer {
    /// The outcome for people.
    var text: String {
        let words =
            switch outcome {
            case .reachable: "reachable after \(milliseconds) ms" + (detail.map { ", \($0)" } ?? "")
            case .keyRefused: "key missing or refused after \(milliseconds) ms"
            case .certificateRefused: "certificate refused after \(milliseconds) ms"
            case .notFound: "not found after \(milliseconds) ms"
            case .timedOut: "no answer within \(OnlineExamination.limit.components.seconds) s"
            case .failed: "failed after \(milliseconds) ms"
            }
        return "\(words): \(address)"
    }
}

extension OnlineExamination.Answer.Outcome {
    fileprivate var cure: String {
        switch self {
        case .reachable, .failed, .timedOut: "Check the network and the address, and try again later."
        case .keyRefused: "Check the key."
        case .certificateRefused:
            "Check the date of this machine, the address, and whether this network wants a log-in first."
        case .notFound: "Check the address."
        }
    }
}
