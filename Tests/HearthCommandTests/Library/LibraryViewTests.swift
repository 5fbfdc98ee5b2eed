import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthCommand

/// The live view over a real home and an origin in a folder, at a terminal of the test's, on a clock of its own.
@MainActor @Suite(.timeLimit(.minutes(10))) struct LibraryViewTests {
    private let folder: TemporaryFolder
    private let terminal = ScriptedTerminal()
    private let clock = ManualClock()

    init() throws {
        folder = try TemporaryFolder()
        try offer(at: "model.gguf")
    }

    private func offer(at address: String) throws {
        let bytes = ModelFiles.gguf()
        try folder.write("origin/model.gguf", bytes)
        let entries = ["ada", "bob", "cyd"].map { family in
            #"""
            {"id": "\#(family)", "version": "1.0.0", "filename": "\#(family)-v1.0.0-q4_1.gguf", "sizeBytes": \#(bytes.count),
             "sha256": "\#(SHA256Digest(hashing: Array(bytes)).hex)", "requirements": {"memoryBytes": 1000},
             "downloadUrl": "\#(address)"}
            """#
        }
        try folder.write(
            "origin/models.json", Data(#"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ","))]}"#.utf8))
    }

    /// Bytes come, nothing is tried.
    private func view(
        metered: MeteredUse = .deny, network: any NetworkMonitor = UnmonitoredNetwork()
    ) -> (LibraryView, ModelLibrary, ScreenNotes) {
        let manager = ModelManager(
            home: folder.path("home"),
            origins: [Origin(name: "test", manifestURL: folder.path("origin/models.json").url)],
            time: HurriedClock().time, network: network, deviceMemory: 8_000_000_000, formats: [.gguf])
        let library = ModelLibrary(manager: manager, home: folder.path("home"))
        library.metered = metered
        let notes = ScreenNotes(CaptureSink())
        return (LibraryView(library: library, terminal: terminal, time: clock.time, notes: notes), library, notes)
    }

    /// Lets the pause after a drawing pass, until a line fits.
    private func until(_ isIt: @escaping @Sendable (String) -> Bool) async {
        let moving = Task { [clock] in
            while !Task.isCancelled {
                await clock.sleepers(atLeast: 1)
                // It may have been called off while nobody slept.
                if Task.isCancelled { return }
                clock.advance(by: LibraryView.redrawInterval)
                await Task.yield()
            }
        }
        await terminal.shows(isIt)
        moving.cancel()
    }

    /// Lets a pause pass for everybody who is in one.
    private func settle() async {
        for _ in 0..<1000 { await Task.yield() }
        clock.advance(by: LibraryView.redrawInterval)
        for _ in 0..<1000 { await Task.yield() }
    }

    /// How often was drawn, once nothing is left to draw.
    private func writesAtRest() async -> Int {
        var writes: Int
        repeat {
            writes = terminal.writes
            await settle()
        } while terminal.writes != writes
        return writes
    }

    @Test func fromTheListToTheDefaultAndAway() async throws {
        let (view, library, _) = view()
        async let ending = view.run(.asPublished)
        await until { $0.contains("bob") && $0.contains("not downloaded") }
        // Nobody has looked yet, which is not that nothing is there.
        #expect(terminal.firstLines.contains { $0.hasPrefix("Asking the origins") }, "\(terminal.firstLines)")
        #expect(terminal.isTaken)
        terminal.type("j")
        await until { $0.hasPrefix(">    bob") }
        terminal.type("\r")
        await until { $0.hasPrefix(">    bob") && $0.hasSuffix("downloaded") && !$0.contains("not") }
        terminal.type("\r")
        await until { $0.hasPrefix("> *  bob") }
        #expect(try Configuration.load(home: folder.path("home")).defaultModel == "bob")
        terminal.type("x")
        await until { $0 == "Delete bob from this device? [y/N]" }
        terminal.type("n")
        await until { $0.contains("x delete") }
        #expect(library.rows[1].isUsable)
        terminal.type("xy")
        await until { $0.hasPrefix("> *  bob") && $0.hasSuffix("not downloaded") }
        terminal.resize(ScreenSize(columns: 30, lines: 6))
        await until { $0.hasPrefix("> *  bob") && TerminalText.columns(of: $0) < 30 }
        terminal.type("q")
        #expect(try await ending == .left)
        #expect(!terminal.isTaken)
        #expect(terminal.strangers.isEmpty)
    }

    @Test(arguments: [("\u{3}", LibraryView.Ending.interrupted), ("q", .left), ("\u{4}", .left)])
    func leavingGivesTheTerminalBack(keys: String, expected: LibraryView.Ending) async throws {
        let (view, _, _) = view()
        async let ending = view.run(.asPublished)
        await until { $0.contains("q leave") }
        terminal.type(keys)
        #expect(try await ending == expected)
        #expect(!terminal.isTaken)
    }

    @Test func soDoACancellationAndATerminalThatGoes() async throws {
        let (view, _, _) = view()
        let running = Task { try await view.run(.asPublished) }
        await until { $0.contains("q leave") }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(!terminal.isTaken)

        let (second, _, _) = self.view()
        let again = Task { try await second.run(.asPublished) }
        await until { $0.contains("q leave") }
        while !terminal.isTaken { await Task.yield() }
        terminal.tell(.ended)
        #expect(try await again.value == .left)
        #expect(!terminal.isTaken)
    }

    /// However much happens in a moment, it is one drawing; and nothing is drawn while nothing happens.
    @Test func drawsTenTimesASecondAtMost() async throws {
        let (view, library, _) = view()
        async let ending = view.run(.asPublished)
        await until { $0.contains("not downloaded") }
        while library.isRefreshing { await Task.yield() }
        await until { $0 == "AI Model: 3 models, 0 on this device (* default)" }
        let before = await writesAtRest()
        terminal.type("j")
        await until { $0.hasPrefix(">    bob") }
        #expect(terminal.writes == before + 1)
        for _ in 0..<100 { terminal.type("jk") }
        terminal.type("j")
        await clock.sleepers(atLeast: 1)
        for _ in 0..<1000 { await Task.yield() }
        #expect(terminal.writes == before + 1)
        clock.advance(by: LibraryView.redrawInterval)
        await terminal.shows { $0.hasPrefix(">    cyd") }
        #expect(terminal.writes == before + 2, "all of it when the pause is over")
        await settle()
        terminal.type("\u{1B}[C?zZ\u{1B}]0;x\u{7}")
        await settle()
        #expect(terminal.writes == before + 2, "nothing to be seen has changed")
        terminal.type("q")
        #expect(try await ending == .left)
    }

    /// Whoever had the terminal meanwhile has left nothing of the picture.
    @Test func afterASuspensionAllIsDrawnAnew() async throws {
        let (view, _, _) = view()
        async let ending = view.run(.asPublished)
        await until { $0.hasPrefix(">    ada") }
        await settle()
        terminal.type("\u{1A}")
        while terminal.suspensions == 0 { await Task.yield() }
        await until { $0.contains("q leave") }
        #expect(terminal.suspensions == 1 && terminal.lines.contains { $0.hasPrefix(">    ada") })
        terminal.type("q")
        #expect(try await ending == .left)
    }

    /// Asked when the download is refused, and when it is wanted again; a yes is for this download alone.
    @Test func onAMeteredNetworkThePersonDecides() async throws {
        try offer(at: "https://models.invalid/far.gguf")
        let (view, library, _) = view(metered: .ask, network: UnmonitoredNetwork(assuming: .metered))
        let size = ByteCount(UInt64(ModelFiles.gguf().count))
        let question = "This network is metered. Fetch \(size) of ada now? [y/N]"
        async let ending = view.run(.asPublished)
        await until { $0.hasPrefix(">    ada") }
        terminal.type("\r")
        await until { $0 == question }
        terminal.type("n")
        await until { $0.contains("Enter Download Model") }
        #expect(library.rows[0].detailCode == "metered-network")
        terminal.type("\r")
        await until { $0 == question }
        terminal.type("y")
        await until { $0.hasPrefix(">    ada") && $0.contains("failed: Network error") }
        #expect(library.metered == .ask)
        terminal.type("q")
        #expect(try await ending == .left)
    }

    @Test func whatIsSaidMeanwhileStandsInTheLastLine() async throws {
        let (view, _, notes) = view()
        async let ending = view.run(.asPublished)
        await until { $0.contains("q leave") }
        try notes.write("It takes \u{1B}[31m2 GB.\n")
        await until { $0 == "It takes [31m2 GB." }
        terminal.type("q")
        #expect(try await ending == .left)
    }
}
