import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthStore

extension HearthCommand {
    /// The work of a process that was started as a worker, with its exit status; `nil` for any other process.
    package static func serveWorker() -> Int32? { EngineRegistry.serveWorker() }

    /// Runs the process's command line and returns its exit status.
    package static func main() async -> Int32 {
        let environment = ProcessInfo.processInfo.environment
        let console = Console(
            output: DescriptorSink(descriptor: STDOUT_FILENO),
            errors: DescriptorSink(descriptor: STDERR_FILENO), environment: environment)
        let interruptions = Interruptions()
        interruptions.listen()
        var context = CommandContext(
            environment: environment, console: console, input: DescriptorSource(descriptor: STDIN_FILENO),
            interruptions: interruptions, time: .system,
            terminal: DescriptorTerminal(input: STDIN_FILENO, output: STDOUT_FILENO))
        context.engines = .workers()
        // `pull` reports a wrong word in the environment; an answer does not fail for it.
        context.network = { (try? NetworkChoice.monitor(environment: environment)) ?? SystemNetwork.monitor() }
        return await run(Array(ProcessInfo.processInfo.arguments.dropFirst()), in: context)
    }

    static func run(_ words: [String], in context: CommandContext) async -> Int32 {
        var console = context.console
        if let part = Log.unknownParts(of: context.environment["HEARTH_LOG"] ?? "").first {
            let levels = Log.Level.allCases.map(\.rawValue).joined(separator: ", ")
            console.complain("HEARTH_LOG: \(part.quotedForTerminal) is not one of \(levels).")
        }
        do {
            switch try table.invocation(of: words) {
            case .help(let page): try console.write(page)
            case .version: try console.write("\(versionLine)\n")
            case .run(let command, let isQuiet):
                console = context.console.quiet(isQuiet, environment: context.environment)
                let context = context.speaking(on: console)
                try await context.interruptions.run {
                    try await context.askingForRoots { try await command.run(in: context) }
                }
            }
            return 0
        } catch is OutputClosed {
            return 0
        } catch let error as StoreError where error.code == .notInstalled {
            return report(await context.namingNear(error), on: console)
        } catch {
            return report(error, on: console)
        }
    }

    /// Prints a failure and returns its exit status.
    private static func report(_ error: any Error, on console: Console) -> Int32 {
        let rendered = FailureRenderer(error)
        if console.speaksEvents {
            // A closed output does not matter: the message below and the exit status report the failure.
            try? console.emit("error", rendered.body)
        }
        for line in rendered.lines { console.complain(line) }
        return rendered.exitStatus
    }
}

extension CommandContext {
    /// The error of a model that is not on this device, with similar names that are.
    fileprivate func namingNear(_ error: StoreError) async -> StoreError {
        guard let family = error.context.model?.prefix(while: { !"@:".contains($0) }) else { return error }
        let near = await CompletionNames(self).near(String(family))
        guard !near.isEmpty else { return error }
        var context = error.context
        context.field = "near"
        context.remedy = "The nearest \(near.count == 1 ? "is" : "are") \(near.joined(separator: ", "))."
        return StoreError(
            error.code, error.message, context: context, disposition: error.disposition, underlying: error.underlying)
    }
}
