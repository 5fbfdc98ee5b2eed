import Foundation
import HearthBase
import HearthServer

/// Hands a command over to the resident process, and shows its output as if it ran here.
struct HandOver: Sendable {
    /// A variable that keeps commands in their own process.
    static let variable = "HEARTH_ALONE"
    /// Variables of the client that its commands read.
    private static let variables = ["TERM", "NO_COLOR", "LANG", "LC_ALL"]

    let context: CommandContext
    let client: ResidentClient

    /// Runs a command in the resident process.
    /// - Returns: the exit status; `nil` if the command runs here: no process serves the home.
    static func run(_ command: any Command, _ words: [String], in context: CommandContext) async throws -> Int32? {
        guard let command = command as? any HandedOver, command.canBeHandedOver,
            (context.environment[variable] ?? "").isEmpty
        else { return nil }
        let place = ResidentPlace(home: try context.home, environment: context.environment)
        let hand = HandOver(context: context, client: ResidentClient(place))
        let body = Array(try JSONEncoder().encode(hand.order(words)))
        guard let reply = try await hand.client.send("POST", "/hearth/v1/jobs", body: body), reply.status == 200
        else { return nil }
        return try await hand.follow(reply)
    }

    private func order(_ words: [String]) -> JobOrder {
        let console = context.console
        var order = JobOrder(words: words)
        order.version = HearthCommand.version
        order.output = .init(isTerminal: console.output.isTerminal, width: console.output.width)
        order.errors = .init(isTerminal: console.errors.isTerminal, width: console.errors.width)
        order.inputIsTerminal = context.input.isTerminal
        order.environment = context.environment.filter { name, _ in
            Self.variables.contains(name) || name.hasPrefix("HF_")
                || name.hasPrefix("HEARTH_") && name != "HEARTH_HOME"
        }
        return order
    }

    /// Shows the events of the job until its end. A cancelled caller ends the job, and shows what it still says; a
    /// terminal that is closed leaves it.
    private func follow(_ reply: ResidentClient.Reply) async throws -> Int32 {
        let job = Locked<String?>(nil)
        let reading = Task { try await show(reply, job) }
        let leave: @Sendable () -> Void = {
            reply.close()
            reading.cancel()
        }
        return try await context.interruptions.handlingHangUps(with: leave) {
            try await withTaskCancellationHandler {
                try await reading.value
            } onCancel: {
                Task { await steer(job.withLock { $0 }, "cancel") }
            }
        }
    }

    private func show(_ reply: ResidentClient.Reply, _ job: Locked<String?>) async throws -> Int32 {
        let console = context.console
        while let line = try await reply.line() {
            // Events of a later version may have another form.
            guard let event = try? JSONValue(parsing: Data(line.utf8)).members else { continue }
            switch event.first {
            case ("job", .string(let id))?: job.withLock { $0 = id }
            case ("out", .string(let text))?:
                do {
                    try console.write(text)
                } catch {
                    await steer(job.withLock { $0 }, "cancel")
                    throw error
                }
            // A failure to write messages cannot be reported; the command continues.
            case ("err", .string(let text))?: try? console.errors.write(text)
            case ("input", _)?: await answer(job.withLock { $0 })
            case ("end", .number(let digits))?: return Int32(digits) ?? 1
            default: continue
            }
        }
        throw ServerError(
            .noAnswer, "the process that serves this home ended meanwhile",
            context: ErrorContext(remedy: "Call the command again: it continues with the received bytes."),
            disposition: .tryLater)
    }

    /// Sends a line of this process's input.
    private func answer(_ job: String?) async {
        var line: String?
        for await next in context.input.lines() {
            line = next
            break
        }
        let body = JSONValue.object(["line": line.map { .string($0) } ?? .null]).data
        await steer(job, "input", Array(body))
    }

    private func steer(_ job: String?, _ verb: String, _ body: [UInt8] = []) async {
        guard let job else { return }
        do {
            let reply = try await client.send("POST", "/hearth/v1/jobs/\(job)/\(verb)", body: body)
            reply?.close()
        } catch {
            Log.write(.info, "the job was not told: \(error)")
        }
    }
}
