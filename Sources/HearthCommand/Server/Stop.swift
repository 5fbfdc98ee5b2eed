import HearthBase
import HearthServer

/// `hearth stop`
struct Stop: Command {
    static let declaration = CommandDeclaration(
        "stop", summary: "End the process that serves this home",
        """
        Answers on their way end with a reason, downloads keep their bytes. Returns when the process has ended.

        0: No process serves this home now.
        75: It has not ended within 60 seconds.

        hearth stop  # End what hearth serve --detach started.
        """)

    private static let limit = Duration.seconds(60)
    private static let interval = Duration.milliseconds(50)

    func run(in context: CommandContext) async throws {
        let place = ResidentPlace(home: try context.home, environment: context.environment)
        let time = context.time
        let client = ResidentClient(place)
        let process = try await blocking { try place.holder(time: time) }
        guard let answer = try await client.object("POST", "/hearth/v1/stop") ?? process.map({ _ in [:] }) else {
            return context.console.say("No process serves this home.")
        }
        guard !answer.isEmpty else {
            throw ServerError(
                .noAnswer, "process \(process?.number ?? 0) has this home's claim and does not answer",
                context: ErrorContext(found: process.map { "\($0.number)" }, remedy: "End it with kill."),
                disposition: .tryLater)
        }
        let watch = time.stopwatch()
        while let holder = try await blocking({ try place.holder(time: time) }), holder == process ?? holder {
            guard watch.elapsed < Self.limit else {
                throw ServerError(
                    .noAnswer, "process \(holder.number) has not ended yet",
                    context: ErrorContext(found: "\(holder.number)", remedy: "Wait, or end it with kill."),
                    disposition: .tryLater)
            }
            try await time.sleep(for: Self.interval)
        }
        context.console.say("Process \(process.map { "\($0.number)" } ?? "") has ended.")
    }
}
