import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthServer
import HearthTransfer

/// Lets the resident process of the home pull a model, so that the download goes on without this terminal.
struct ResidentPull: Sendable {
    /// A variable that keeps pulls in their own process.
    static let variable = "HEARTH_ALONE"

    let context: CommandContext

    /// Pulls a release.
    /// - Parameters:
    ///   - manager: reads the installed release.
    ///   - progress: takes readings of the download.
    /// - Returns: `nil` if no process serves the home, or the release is a file, which the command installs.
    func pull(
        _ offer: Offer, _ options: PullOptions, with manager: ModelManager,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> PullOutcome? {
        guard (context.environment[Self.variable] ?? "").isEmpty,
            let job = PullJob(offer, options, environment: context.environment)
        else { return nil }
        let client = ResidentClient(ResidentPlace(home: try context.home, environment: context.environment))
        let body = Array(try JSONEncoder().encode(job))
        guard let reply = try await client.send("POST", "/hearth/v1/pull", body: body), reply.status == 200 else {
            return nil
        }
        let pulled = try await follow(reply, client, progress)
        let release = try await manager.installed(
            offer.release.identity.family, version: ReleaseVersion(pulled.row.version),
            variant: pulled.row.variant.flatMap { Variant($0) })
        return pulled.wasInstalled
            ? .alreadyInstalled(release) : .installed(release, fetchedBytes: pulled.fetchedBytes)
    }

    /// Follows the job to its end. A cancelled caller ends the job, and waits until its bytes are recorded; a terminal that
    /// is closed leaves it.
    private func follow(
        _ reply: ResidentClient.Reply, _ client: ResidentClient,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> PulledRelease {
        let reading = Task { try await end(of: reply, progress) }
        let leave: @Sendable () -> Void = {
            reply.close()
            reading.cancel()
        }
        return try await context.interruptions.handling(.hangUp, with: leave) {
            try await withTaskCancellationHandler {
                try await reading.value
            } onCancel: {
                Task { await cancel(reply.job, client) }
            }
        }
    }

    private func end(
        of reply: ResidentClient.Reply, _ progress: @Sendable (TransferProgress) -> Void
    ) async throws -> PulledRelease {
        while let line = try await reply.line() {
            // Events of a later version may have another form.
            switch PullEvent(line: line) {
            case .note(let text)?: context.console.say(text)
            case .progress(let reading)?: progress(reading)
            case .done(let release)?: return release
            case .failed(let failure)? where failure.code == PullEvent.interruptedCode: throw CancellationError()
            case .failed(let failure)?: throw failure
            case nil: continue
            }
        }
        throw ServerError(
            .noAnswer, "the process that serves this home ended meanwhile",
            context: ErrorContext(remedy: "Call the command again: it continues with the received bytes."),
            disposition: .tryLater)
    }

    private func cancel(_ job: String?, _ client: ResidentClient) async {
        guard let job else { return }
        do {
            let reply = try await client.send("POST", "/hearth/v1/jobs/\(job)/cancel")
            reply?.close()
        } catch {
            Log.write(.info, "the job was not told: \(error)")
        }
    }
}
