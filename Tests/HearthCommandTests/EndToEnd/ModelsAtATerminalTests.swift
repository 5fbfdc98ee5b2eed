import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCommand

private let model = try? TestModel.path(.plain)
private let hasModel = model.map { FileManager.default.fileExists(atPath: $0.string) } ?? false

/// `hearth models` at a pseudo-terminal, over a served origin.
@Suite(.enabled(if: hasModel, "the tiny models are not in the cache: run make setup"), .timeLimit(.minutes(10)))
struct ModelsAtATerminalTests {
    private let lab: HearthLab

    init() throws { lab = try HearthLab() }

    /// Serves a model that runs, and one with a hostile name that does not.
    private func serve() async throws {
        let published = try await lab.serve(
            try #require(model), "--family", "tiny", "--version", "1.0.0", "--variant", "f16", "--name", "Tiny")
        #expect(published.status == 0, "\(published.errors)")
        let manifest = Path(lab.origin + "/models.json")
        var document = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: manifest.url)) as? [String: Any])
        let models = try #require(document["models"] as? [[String: Any]])
        var hostile = try #require(models.first)
        hostile["id"] = "evil"
        hostile["family"] = "evil"
        // Control characters and bidirectional ones are refused with the whole list; this is what gets through.
        hostile["name"] = "Anna 日本👩‍👩‍👧مرحبا" + String(repeating: "\u{301}", count: 400)
        hostile["requirements"] = ["memoryBytes": 8_000_000_000_000_000 as UInt64]
        document["models"] = [hostile] + models
        try JSONSerialization.data(withJSONObject: document).write(to: manifest.url)
    }

    private func start(_ words: String..., size: ScreenSize = ScreenSize(columns: 100, lines: 20)) throws
        -> TerminalProcess
    {
        try TerminalProcess(["models"] + words, environment: lab.environment, size: size)
    }

    @Test func aPersonMovesDownloadsChoosesAndLeaves() async throws {
        try await serve()
        let hearth = try start("--refresh")
        await hearth.showsLine { $0.contains("Tiny") && $0.hasSuffix("not downloaded") }
        #expect(hearth.isRaw && hearth.screen.isTaken && hearth.screen.hidesCursor)
        await hearth.showsLine { $0.contains("  Anna 日本👩‍👩‍👧") && $0.contains("incompatible: needs") }

        hearth.type("\u{1B}")
        hearth.type("[B")
        await hearth.showsLine { $0.hasPrefix(">    Tiny") }
        hearth.resize(ScreenSize(columns: 44, lines: 8))
        await hearth.shows { $0.text.allSatisfy { $0.count < 44 } && $0.text.count <= 8 && $0.text.count > 3 }
        hearth.resize(ScreenSize(columns: 100, lines: 20))
        await hearth.showsLine { $0.contains("MEMORY") }

        hearth.type("\r")
        await hearth.showsLine { $0.hasPrefix(">    Tiny") && $0.hasSuffix(" downloaded") && !$0.contains("not ") }
        hearth.type([0xFF, 0x00, 0x1C] + Array("\u{1B}[<0;1;1M\u{1B}]0;x\u{7}é日zZ?\u{1B}OP".utf8))
        hearth.type(" ")
        await hearth.showsLine { $0.hasPrefix("> *  Tiny") }
        hearth.type("q")
        #expect(await hearth.status() == 0)
        await hearth.shows { !$0.isTaken && !$0.hidesCursor }
        #expect(hearth.attributes == hearth.attributesBefore && !hearth.attributes.isEmpty)
        #expect(hearth.screen.strangers.isEmpty, "\(hearth.screen.strangers)")

        let listed = try await lab.run("models")
        #expect(listed.status == 0)
        #expect(listed.output.contains("*  tiny"))
        #expect(listed.output.contains(" downloaded"))
    }

    @Test(arguments: [("\u{3}", 0), ("", SIGTERM), ("", SIGINT)] as [(String, Int32)])
    func anInterruptGivesTheTerminalBack(keys: String, signal: Int32) async throws {
        try await serve()
        let hearth = try start()
        await hearth.showsLine { $0.contains("q leave") }
        if signal == 0 { hearth.type(keys) } else { hearth.send(signal) }
        #expect(await hearth.status() == 130)
        await hearth.shows { !$0.isTaken && $0.text.contains { $0.contains("[interrupted]") } }
        #expect(hearth.attributes == hearth.attributesBefore && !hearth.attributes.isEmpty)
        #expect(!hearth.screen.hidesCursor)
    }

    /// Whatever ends the program but `kill -9`, the terminal is as it was, and the end is the one it would have been.
    @Test(arguments: [SIGQUIT, SIGABRT, SIGSEGV]) func aFatalSignalGivesTheTerminalBack(signal: Int32) async throws {
        try await serve()
        let hearth = try start()
        await hearth.showsLine { $0.contains("q leave") }
        #expect(hearth.isRaw)
        hearth.send(signal)
        #expect(await hearth.status() == 128 + signal)
        await hearth.drained()
        #expect(!hearth.screen.isTaken && !hearth.screen.hidesCursor)
        #expect(hearth.attributes == hearth.attributesBefore && !hearth.attributes.isEmpty)
    }

    /// Nobody reads what is written, so that the first signal cannot end it: the second does, without leaving the terminal raw.
    @Test func theSecondSignalGivesTheTerminalBackWhileAWriteWaits() async throws {
        try await serve()
        let hearth = try start()
        await hearth.showsLine { $0.contains("Tiny") && $0.hasSuffix("not downloaded") }
        try await hearth.block()
        hearth.resize(ScreenSize(columns: 60, lines: 10))
        // The two are to lie half a second apart; the program's clock is the machine's.
        while !hearth.hasEnded {
            _ = try await ChildProcess.run(["--version"], environment: lab.environment)
            hearth.send(SIGTERM)
        }
        #expect(await hearth.status() == 130)
        #expect(hearth.attributes == hearth.attributesBefore && !hearth.attributes.isEmpty)
        hearth.unblock()
        await hearth.drained()
        #expect(!hearth.screen.isTaken && !hearth.screen.hidesCursor)
    }

    /// Who presses Ctrl-Z has the terminal as it was, and the list again when the program goes on.
    @Test func aSuspensionGivesTheTerminalBackUntilItGoesOn() async throws {
        try await serve()
        let hearth = try start()
        // It stops its group, which is not to be that of the tests.
        try #require(getpgid(hearth.identifier) != getpgrp())
        await hearth.showsLine { $0.contains("Tiny") && $0.hasSuffix("not downloaded") }
        for _ in 1...2 {
            hearth.type("\u{1A}")
            try await hearth.stopped()
            await hearth.shows { !$0.isTaken && !$0.hidesCursor }
            #expect(hearth.attributes == hearth.attributesBefore && !hearth.attributes.isEmpty)
            hearth.send(SIGCONT)
            await hearth.shows { $0.isTaken && $0.hidesCursor && $0.text.contains { $0.contains("q leave") } }
            #expect(hearth.isRaw)
        }
        // Stopped by somebody else it could give nothing back; the shell has done that for itself.
        hearth.send(SIGSTOP)
        try await hearth.stopped()
        try hearth.restoreAttributes()
        hearth.send(SIGCONT)
        await hearth.shows { _ in hearth.isRaw }
        hearth.type("\u{1B}[B")
        await hearth.showsLine { $0.hasPrefix(">    Tiny") }
        hearth.type("q")
        #expect(await hearth.status() == 0)
        await hearth.shows { !$0.isTaken && !$0.hidesCursor }
        #expect(hearth.attributes == hearth.attributesBefore)
        #expect(hearth.screen.strangers.isEmpty, "\(hearth.screen.strangers)")
    }

    /// Leaving in the middle of a download keeps what has come, and the next start goes on from there.
    @Test(arguments: [("\u{3}", 130), ("q", 0)] as [(String, Int32)])
    func whatHasComeIsKept(keys: String, status: Int32) async throws {
        try await serve()
        let bytes = try Data(contentsOf: try #require(model).url)
        let manifest = try Data(contentsOf: Path(lab.origin + "/models.json").url)
        let isSlow = Locked(true)
        let server = try FaultServer { request in
            if request.path.hasSuffix("models.json") { return Reply(body: .data(manifest)) }
            if request.path.hasSuffix(".index") { return Reply(404) }
            let reply = FaultServer.answer(request, with: .data(bytes))
            return isSlow.withLock { $0 } ? reply.paced(bytesPerSecond: 400_000) : reply
        }
        var environment = lab.environment
        environment["HEARTH_ORIGIN"] = try server.url("/models.json").absoluteString
        let hearth = try TerminalProcess(["models"], environment: environment)
        await hearth.showsLine { $0.contains("Tiny") && $0.hasSuffix("not downloaded") }
        hearth.type("\u{1B}[B\r")
        await hearth.showsLine { $0.contains("downloading ") && $0.contains("%") && !$0.contains(" 0%") }
        await hearth.showsLine { $0.hasPrefix(">    Tiny") && $0.contains("/s") }
        hearth.type(keys)
        #expect(await hearth.status() == status)
        await hearth.shows { !$0.isTaken && $0.text.contains { $0.contains("are kept") } }
        #expect(hearth.attributes == hearth.attributesBefore)

        let left = try await ChildProcess.run(["transfers", "list", "--format", "json"], environment: environment)
        let transfer = try #require(
            try JSONSerialization.jsonObject(with: Data(left.output.utf8)) as? [[String: Any]]
        ).first
        #expect(transfer?["state"] as? String == "interrupted")
        #expect(transfer?["receivedBytes"] as? Int ?? 0 > 0)
        isSlow.withLock { $0 = false }
        let again = try TerminalProcess(["models"], environment: environment)
        await again.showsLine { $0.contains("Tiny") && $0.hasSuffix(" downloaded") && !$0.contains("not ") }
        again.type("q")
        #expect(await again.status() == 0)
        #expect(server.requests.contains { $0.headers["Range"] != nil })
    }
}
