import Hearth
import HearthBase
import HearthServer

/// Examines the process that serves the home, and the port that it would take.
struct ServerExamination: Sendable {
    let context: CommandContext

    /// The seconds that a process has to answer.
    private static let longestWait = 5

    /// Adds a fact, and what is wrong.
    /// - Throws: `ServerError` with `foreign-socket`; `FileError`, `ConfigurationError`.
    func add(to report: inout DoctorReport) async throws {
        let place = ResidentPlace(home: try context.home, environment: context.environment)
        // The chapter on the home reports invalid settings.
        let port = (try? await context.configuration)?.server.port ?? ServerConfiguration.defaultPort
        let (holder, listener) = try await blocking { [time = context.time] in
            _ = try place.hasOwnFolder()
            return (try place.holder(time: time), PortHolder.find(port: port))
        }
        if await ResidentClient(place, longestWait: Self.longestWait).isServing() {
            let number = holder.map { "process \($0.number)" } ?? "a process"
            return report.add("Server", ["now": "\(number) serves this home"])
        }
        if let holder {
            report.add("Server", ["now": "process \(holder.number) does not answer"])
            return report.problem(
                "no-answer", "process \(holder.number) holds the claim to serve this home, and does not answer",
                cure: "End it with `kill \(holder.number)`, and start the server anew.")
        }
        report.add("Server", ["now": "none; port \(port) is \(listener == nil ? "free" : "in use")"])
        guard let listener else { return }
        report.note(
            "port-in-use", "port \(port), which 'hearth serve' takes, is in use by \(listener.words)",
            cure: "End that program, or take another port with 'hearth config set serve.port PORT'.")
    }
}
