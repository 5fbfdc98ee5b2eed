import Foundation
import HearthBase
import HearthServer

/// Runs a command in the resident process with the terminal of another process.
enum RemoteConsole {
    /// Runs the words of a command line; returns the exit status.
    static func run(_ job: ResidentJob, _ order: JobOrder, in context: CommandContext) async -> Int32 {
        var environment = context.environment.merging(order.environment) { $1 }
        environment[HandOver.variable] = "1"
        let console = Console(
            output: Sink(job: job, stream: .output, terminal: order.output),
            errors: Sink(job: job, stream: .errors, terminal: order.errors), environment: environment)
        let interruptions = Interruptions(time: context.time)
        job.onCancel { interruptions.deliver(.interrupt) }
        let remote = CommandContext(
            environment: environment, console: console,
            input: Source(job: job, isTerminal: order.inputIsTerminal), interruptions: interruptions,
            time: context.time, device: context.device, usableMemory: context.usableMemory,
            engines: context.engines, network: context.network, clouds: context.clouds, queue: context.queue,
            terminal: nil)
        return await HearthCommand.run(order.words, in: remote)
    }

    /// A stream of the other process.
    private struct Sink: TextSink {
        let job: ResidentJob
        let stream: ResidentJob.Stream
        let terminal: JobOrder.Terminal

        var isTerminal: Bool { terminal.isTerminal }
        var width: Int? { terminal.width }

        func write(_ text: String) throws { job.write(text, to: stream) }
    }

    /// The input of the other process, read line by line when the command asks.
    private struct Source: TextSource {
        let job: ResidentJob
        let isTerminal: Bool

        func lines() -> AsyncStream<String> {
            job.askForInput()
            return job.input
        }

        func all(limit: Int) async throws -> String {
            throw UsageError("this command reads no input in the resident process", hint: nil)
        }
    }
}
