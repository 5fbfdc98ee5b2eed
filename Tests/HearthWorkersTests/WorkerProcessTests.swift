import CProcess
import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthWorkers

/// Whether a process that may be no child of this one ends within ten seconds.
private func ends(_ pid: Int32) async throws -> Bool {
    await blocking {
        let descriptor = hearth_process_watch(pid)
        // No such process: it has ended already.
        guard descriptor >= 0 else { return errno == ESRCH }
        defer { close(descriptor) }
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 10_000) == 1
    }
}

@Suite(.timeLimit(.minutes(2))) struct WorkerProcessTests {
    @Test func startsAProgramWithNothingButItsChannel() async throws {
        let worker = try await ProbeWorker.start(environment: ["TZ": "Asia/Tokyo"])
        #expect(worker.held == [])
        #expect(try await worker.perform("descriptors") == "0 1 2 3")
        #expect(try await worker.perform("alone") == "true")
        let environment = try await worker.perform("environment") ?? ""
        let names = environment.split(separator: " ").map { $0.prefix { $0 != "=" } }
        #expect(names.filter { !$0.hasSuffix("SAN_OPTIONS") } == ["GGML_NO_BACKTRACE", "SWIFT_BACKTRACE", "TZ"])
        #expect(environment.contains("TZ=Asia/Tokyo"))
        worker.channel.shutdown()
        #expect(await worker.process.wait().reason == .status(0))
    }

    @Test func givesItTheNamedFilesOnly() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("file", Data("content".utf8))
        let handle = try FileHandle(forReadingFrom: file.url)
        let worker = try await ProbeWorker.start(descriptors: [handle.fileDescriptor, handle.fileDescriptor])
        #expect(try await worker.perform("descriptors") == "0 1 2 3 4 5")
        #expect(try await worker.perform("read", "/proc/self/fd/4") == "content")
        #expect(try handle.readToEnd() == Data("content".utf8))
    }

    @Test func limitsItsCoreItsMemoryAndItsPrivileges() async throws {
        let worker = try await ProbeWorker.start(limits: WorkerLimits(dataBytes: 512 << 20))
        #expect(try await worker.perform("read", "/proc/self/oom_score_adj") == "1000\n")
        #expect(try await worker.perform("allocate", "\(16 << 20)") == "0")
        #expect(try await worker.perform("allocate", "\(600 << 20)") == "\(ENOMEM)")
        let status = SystemFile.contents("/proc/\(worker.process.pid)/status") ?? ""
        #expect(status.contains("NoNewPrivs:\t1\n") && status.hasPrefix("Name:\thearth.worker\n"))
        let limits = SystemFile.contents("/proc/\(worker.process.pid)/limits") ?? ""
        let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") } ?? ""
        #expect(core.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
        // PR_GET_DUMPABLE: other processes cannot read its memory.
        let dumpable = ConfinedCall("prctl", 157, 167, ["3"])
        #expect(try await worker.perform(["result", "\(dumpable.number)"] + dumpable.arguments) == "0")
    }

    @Test func readsItsLimitsFromTheCommandLine() throws {
        let limits = WorkerLimits(dataBytes: 7 << 30, coreDump: true, oomScore: -3)
        var words = ["one"] + limits.arguments + ["two", "data-limit", ""]
        #expect(WorkerLimits(takenFrom: &words) == limits)
        #expect(words == ["one", "two", "data-limit", ""])
        for wrong in ["data-limit=", "data-limit=0", "data-limit=-1", "oom-score=x", "oom-score==1"] {
            var words = [wrong]
            #expect(WorkerLimits(takenFrom: &words) == nil)
        }
    }

    @Test(arguments: [
        (["exit", "0"], WorkerExit.Reason.status(0)), (["exit", "70"], .status(70)), (["abort"], .signal(SIGABRT)),
        (["crash"], .signal(SIGSEGV)),
    ])
    func reportsHowItEnded(deed: [String], reason: WorkerExit.Reason) async throws {
        let worker = try await ProbeWorker.start()
        #expect(try await worker.perform(deed) == nil)
        let exit = await worker.process.wait()
        #expect(exit.reason == reason)
        #expect(!exit.isOutOfMemory)
        #expect(await worker.process.wait() == exit)
        #expect(worker.process.processorTime == nil)
        worker.process.kill()
    }

    @Test func keepsTheEndOfItsStandardError() async throws {
        let worker = try await ProbeWorker.start()
        // More than a pipe holds: it is read while the worker runs.
        for _ in 0..<20 { _ = try await worker.perform("say", String(repeating: "x", count: 9000)) }
        _ = try await worker.perform("say", "GGML_ASSERT(false) failed")
        #expect(try await worker.perform("abort") == nil)
        let exit = await worker.process.wait()
        #expect(exit.reason == .signal(SIGABRT))
        #expect(exit.errorText.utf8.count == ErrorPipe.maximumLength)
        #expect(exit.errorText.hasSuffix("xxx" + "GGML_ASSERT(false) failed"))
    }

    /// A hostile worker writes to the terminal of the person who reads why it ended.
    @Test func keepsControlCharactersOutOfTheReason() {
        #expect(ErrorPipe.plain(Array("line\n\tone".utf8)) == "line\n\tone")
        #expect(ErrorPipe.plain(Array("\u{1B}]0;x\u{7}\r\u{202E}\u{9B}".utf8)) == "�]0;x����")
        #expect(ErrorPipe.plain([0x80, 0x41, 0]) == "�A�")
        #expect(ErrorPipe.plain([]) == "")
    }

    @Test func killsOneThatSpinsAndMeasuresItsTime() async throws {
        let worker = try await ProbeWorker.start()
        try worker.channel.send(Array("spin".utf8))
        let before = try #require(worker.process.processorTime)
        while try #require(worker.process.processorTime) < before + 0.02 { await Task.yield() }
        worker.process.kill()
        let exit = await worker.process.wait()
        #expect(exit.reason == .signal(SIGKILL))
        #expect(!exit.isOutOfMemory)
        #expect(worker.process.processorTime == nil)
    }

    @Test(arguments: ["idle", "spin"]) func endsWhenTheChannelCloses(deed: String) async throws {
        var worker: ProbeWorker? = try await ProbeWorker.start()
        let process = try #require(worker?.process)
        if deed == "spin" { try worker?.channel.send(Array("spin".utf8)) }
        // Released, the channel closes its descriptor.
        worker = nil
        #expect(await process.wait().reason == .status(0))
    }

    @Test(arguments: ["idle", "spin"]) func endsWithAKilledParent(deed: String) async throws {
        let parent = try await ProbeWorker.start()
        let child = try #require(try await parent.perform("parent").flatMap { Int32($0) })
        if deed == "spin" { try parent.channel.send(Array("spin".utf8)) }
        parent.process.kill()
        #expect(await parent.process.wait().reason == .signal(SIGKILL))
        #expect(try await ends(child))
    }

    @Test func endsWhenItsOwnerReleasesIt() async throws {
        var worker: ProbeWorker? = try await ProbeWorker.start()
        let (pid, channel) = try #require(worker.map { ($0.process.pid, $0.channel) })
        worker = nil
        #expect(try await ends(pid))
        withExtendedLifetime(channel) {}
    }

    /// In a process of its own, where no other test opens files.
    @Test func leavesNoChildAndNoOpenFile() async throws {
        let parent = try await ProbeWorker.start()
        #expect(try await parent.perform("rounds", "200") == "0")
    }

    @Test func refusesProgramsThatCannotBeStarted() throws {
        func start(_ program: String, _ arguments: [String] = [], descriptors: [Int32] = []) throws {
            _ = try WorkerProcess.spawn(
                executable: Path(program), arguments: arguments, descriptors: descriptors, limits: WorkerLimits())
        }
        let missing = #expect(throws: FileError.self) { try start("/nonexistent") }
        #expect(missing?.code == .notFound)
        let folder = #expect(throws: FileError.self) { try start("/") }
        #expect(folder?.code == .permissionDenied)
        let cut = #expect(throws: FileError.self) { try start(ProbeWorker.program.string, ["a\0b"]) }
        #expect(cut?.context.systemError == EINVAL)
        let closed = #expect(throws: FileError.self) { try start(ProbeWorker.program.string, descriptors: [-1]) }
        #expect(closed?.context.systemError == EBADF)
        let long = String(repeating: "x", count: 1 << 20)
        let tooLong = #expect(throws: FileError.self) { try start(ProbeWorker.program.string, [long]) }
        #expect(tooLong?.context.systemError == E2BIG)
    }

    @Test func readsTheCountOfEndsForLackOfMemory() {
        #expect(MemoryKills.count(in: "nr_free 7\noom_kill 12\nother 3\n") == 12)
        #expect(MemoryKills.count(in: "oom_kill_more 12\n") == nil)
        #expect(MemoryKills.count(in: "oom_kill x\n") == nil)
        let killed = WorkerExit(waitStatus: SIGKILL, isOutOfMemory: true, errorText: "")
        #expect(killed.isOutOfMemory)
        #expect(!WorkerExit(waitStatus: SIGABRT, isOutOfMemory: true, errorText: "").isOutOfMemory)
        #expect(WorkerExit(waitStatus: 0x80 | SIGSEGV, isOutOfMemory: false, errorText: "").reason == .signal(SIGSEGV))
        #expect(WorkerExit(waitStatus: nil, isOutOfMemory: true, errorText: "").reason == .unknown)
    }
}
