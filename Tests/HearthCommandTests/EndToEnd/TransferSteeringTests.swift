import Foundation
import HearthBase
import HearthTestSupport
import Testing

/// The built program steers a pull of another process, as two terminals would.
@Suite(.timeLimit(.minutes(10))) struct TransferSteeringTests {
    private let lab: HearthLab

    init() throws { lab = try HearthLab() }

    /// Serves a model of 64 MiB: two minutes at the pulls' rate, so that a busy machine has time to steer.
    private func serve() async throws {
        let file = try lab.folder.write("big-v1.0.0.onnx", Data(repeating: 7, count: 64 << 20))
        let published = try await lab.serve(file)
        #expect(published.status == 0, "\(published.errors)")
    }

    private func pull() throws -> ChildProcess {
        try ChildProcess(
            ["pull", "big@1.0.0", "--limit-rate", "500K", "--format", "json"], environment: lab.environment)
    }

    private func transfers() async throws -> [[String: Any]] {
        let listed = try await lab.run("transfers", "list", "--format", "json")
        #expect(listed.status == 0, "\(listed.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]])
    }

    /// Waits for an event of a pull.
    private func wait(
        _ events: inout AsyncStream<String>.Iterator, until isIt: ([String: Any]) -> Bool
    ) async throws {
        while let line = await events.next() {
            let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            if isIt(event) { return }
        }
        Issue.record("the pull ended before")
    }

    @Test func aPullIsSeenPausedResumedAndCancelledFromElsewhere() async throws {
        try await serve()
        let pull = try pull()
        var events = pull.outputLines.makeAsyncIterator()
        try await wait(&events) { ($0["completedBytes"] as? Int ?? 0) > 500_000 }

        let running = try #require(try await transfers().first)
        #expect(
            Set(running.keys) == [
                "key", "file", "family", "version", "variant", "state", "process", "receivedBytes", "totalBytes",
                "diskBytes", "changed", "reason",
            ])
        #expect(running["state"] as? String == "running")
        #expect(running["process"] as? Int == Int(pull.identifier))
        #expect(running["file"] as? String == "big-v1.0.0.onnx")
        #expect(running["family"] as? String == "big")
        #expect(running["totalBytes"] as? Int == 64 << 20)
        let table = try await lab.run("transfers", "list")
        #expect(table.output.contains("running (process \(pull.identifier))"))

        let second = try await lab.run("pull", "big@1.0.0")
        #expect(second.status == 75)
        #expect(second.errors.contains("process \(pull.identifier) is fetching big-v1.0.0.onnx"))
        #expect(second.errors.contains("[transfer-busy]"))
        #expect(try await lab.run("transfers", "clean", "--all").errors.contains("nothing to remove"))

        let paused = try await lab.run("transfers", "pause", "big")
        #expect(paused.status == 0 && paused.errors.contains("process \(pull.identifier) pauses"))
        try await wait(&events) { $0["phase"] as? String == "paused" }
        #expect(try await transfers().first?["state"] as? String == "paused")

        let resumed = try await lab.run("transfers", "resume", "big-v1.0.0.onnx")
        #expect(resumed.status == 0 && resumed.errors.contains("continues in process \(pull.identifier)"))
        try await wait(&events) { $0["phase"] as? String == "downloading" }

        let key = try #require(running["key"] as? String)
        let cancelled = try await lab.run("transfers", "cancel", String(key.prefix(12)))
        #expect(cancelled.status == 0, "\(cancelled.errors)")
        #expect(cancelled.output == key + "\n")
        let result = await pull.result()
        #expect(result.status == 1)
        #expect(result.errors.contains("[cancelled]"))
        #expect(try await transfers().isEmpty)
        #expect(try await lab.run("transfers", "cancel", "big").errors.contains("[unknown-transfer]"))
    }

    @Test func whatAKilledPullLeftGoesOnByName() async throws {
        try await serve()
        let pull = try pull()
        var events = pull.outputLines.makeAsyncIterator()
        try await wait(&events) { ($0["completedBytes"] as? Int ?? 0) > 0 }
        // Until another process sees bytes that a kill cannot take away.
        while try await transfers().first?["receivedBytes"] as? Int == 0 {}
        pull.send(SIGKILL)
        _ = await pull.result()

        let left = try #require(try await transfers().first)
        #expect(left["state"] as? String == "interrupted")
        #expect(left["receivedBytes"] as? Int ?? 0 > 0)
        // A listing begins nothing.
        let replies = lab.modelReplies.count
        let listing = try await lab.run("models", "--format", "json")
        let rows = try JSONSerialization.jsonObject(with: Data(listing.output.utf8)) as? [[String: Any]]
        #expect(rows?.first?["state"] as? String == "not-downloaded")
        #expect(try await transfers().first?["state"] as? String == "interrupted")
        #expect(lab.modelReplies.count == replies)
        #expect(try await lab.run("transfers", "pause", "big").status == 0)
        #expect(try await lab.run("transfers", "list").output.contains("paused"))
        let dry = try await lab.run("transfers", "clean", "--all", "--dry-run")
        #expect(dry.output.contains("big-v1.0.0.onnx") && dry.errors.contains("would be free again"))

        let resumed = try await lab.run("transfers", "resume", "big", "--quiet")
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(lab.modelReplies.contains { $0.contains(" 206 ") }, "what was there is not fetched again")
        #expect(try await transfers().isEmpty)
        #expect(try await lab.run("list").output.contains("active"))
    }

    @Test func cleaningSaysWhatItFrees() async throws {
        let idle = lab.folder.path("home/transfers/0123456789abcdef")
        try LocalFileSystem().makeFolders(idle)
        try LocalFileSystem().replaceContents(of: idle.appending("data.part"), with: Data(count: 10_000))
        let listed = try await lab.run("transfers", "list")
        #expect(listed.output.contains("0123456789ab") && listed.output.contains("orphaned"))
        #expect(try await lab.run("transfers", "resume", "0123456789").errors.contains("[not-resumable]"))
        let cleaned = try await lab.run("transfers", "clean")
        #expect(cleaned.status == 0 && cleaned.output.contains("0123456789ab"))
        #expect(cleaned.errors.contains("are free again"))
        #expect(try await lab.run("transfers", "list").errors == "There are no transfers.\n")
    }
}
