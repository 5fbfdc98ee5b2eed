import CProcess
import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthWorkers

private let means = Confinement.available()

/// A confined worker with a model and a folder of states.
private struct Confined {
    let folder: TemporaryFolder
    let model: Path
    let states: Path
    let worker: ProbeWorker

    init(writes: Bool = true, limits: WorkerLimits = WorkerLimits()) async throws {
        folder = try TemporaryFolder()
        model = try folder.write("models/model.gguf", Data("weights".utf8))
        try folder.write("models/other.gguf", Data("secret".utf8))
        states = try folder.write("states/old", Data("state".utf8)).parent
        let words = ["confined", "readable", model.string] + (writes ? ["writable", states.string] : [])
        worker = try await ProbeWorker.start(words, limits: limits)
    }

    func call(_ call: ConfinedCall) async throws -> String? {
        try await worker.perform(["call", "\(call.number)"] + call.arguments)
    }
}

@Suite(.timeLimit(.minutes(2))) struct ConfinementTests {
    @Test func holdsWhatTheMachineHas() async throws {
        var expected: Confinement.Held = []
        if let version = means.landlockVersion {
            expected.insert(.files)
            if version >= 4 { expected.insert(.network) }
            if version >= 6 { expected.insert(.signals) }
        }
        if means.filtersCalls { expected.insert(.calls) }
        #expect(try await Confined().worker.held == expected)
    }

    @Test func computesReadsItsModelAndWritesItsStates() async throws {
        let confined = try await Confined()
        let worker = confined.worker
        #expect(try await worker.perform("read", confined.model.string) == "weights")
        #expect(try await worker.perform("read", confined.states.string + "/old") == "state")
        #expect(try await worker.perform("replace", confined.states.string + "/new") == "0")
        #expect(try await worker.perform("replace", confined.states.string + "/new") == "0")
        #expect(try await worker.perform("read", confined.states.string + "/new") == "state")
        #expect(try await worker.perform("allocate", "\(64 << 20)") == "0")
        #expect(try await worker.perform("thread") == "test.thread")
        #expect(try await worker.perform("read", "/proc/stat")?.hasPrefix("cpu ") == true)
        #expect(try await worker.perform("say", "GGML_ASSERT(false) failed") == "0")
        #expect(try await worker.perform("abort") == nil)
        let exit = await worker.process.wait()
        #expect(exit.reason == .signal(SIGABRT))
        #expect(exit.errorText == "GGML_ASSERT(false) failed")
    }

    @Test(.enabled(if: means.landlockVersion != nil)) func opensNothingElse() async throws {
        let confined = try await Confined()
        let worker = confined.worker
        let other = confined.model.parent.string + "/other.gguf"
        for path in ["/etc/passwd", "/etc", "/", "/dev/null", other, confined.folder.path.string] {
            #expect(try await worker.perform("read", path) == "\(EACCES)", "\(path)")
        }
        for file in ["mem", "environ", "maps", "fd/0"] {
            #expect(try await worker.perform("read", "/proc/\(getpid())/\(file)") == "\(EACCES)", "\(file)")
        }
        for path in [confined.model.string, other, confined.folder.path("new").string, "/tmp/hearth-new"] {
            #expect(try await worker.perform("replace", path) == "\(EACCES)", "\(path)")
        }
        // A link that the parent follows, or a file moved out of the folder, would leave the folder.
        try FileManager.default.createSymbolicLink(
            atPath: confined.states.string + "/link", withDestinationPath: other)
        #expect(try await worker.perform("read", confined.states.string + "/link") == "\(EACCES)")
        #expect(try await worker.perform("replace", confined.states.string + "/link") == "0")
        #expect(try Data(contentsOf: Path(other).url) == Data("secret".utf8))
    }

    /// A worker that is given a descriptor reads the file behind it, by any path.
    @Test(.enabled(if: means.landlockVersion != nil)) func readsFilesGivenAsDescriptors() async throws {
        let folder = try TemporaryFolder()
        let model = try folder.write("model.gguf", Data("weights".utf8))
        let other = try folder.write("other.gguf", Data("secret".utf8))
        let handle = try FileHandle(forReadingFrom: model.url)
        let worker = try await ProbeWorker.start(
            ["confined", "descriptor", "4", "readable", "/nonexistent"], descriptors: [handle.fileDescriptor])
        #expect(try await worker.perform("read", model.string) == "weights")
        #expect(try await worker.perform("read", other.string) == "\(EACCES)")
    }

    /// Also without Landlock.
    @Test(.enabled(if: means.filtersCalls)) func writesNowhereWithoutAFolder() async throws {
        let confined = try await Confined(writes: false)
        #expect(try await confined.worker.perform("read", confined.model.string) == "weights")
        for path in [confined.model, confined.states.appending("new"), confined.folder.path("new")] {
            #expect(try await confined.worker.perform("replace", path.string) == "\(EACCES)")
        }
        for flags in [O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_RDONLY | O_CREAT] {
            let call = ConfinedCall("openat", 257, 56, ["-100", confined.model.string, "\(flags)"])
            #expect(try await confined.call(call) == "\(EACCES)")
        }
        for call in [
            ConfinedCall("mkdirat", 258, 34, ["-100", "/tmp/hearth-new"]),
            ConfinedCall("unlinkat", 263, 35, ["-100", confined.model.string]),
            ConfinedCall("renameat2", 316, 276, ["-100", confined.model.string, "-100", "/tmp/hearth-new"]),
        ] { #expect(try await confined.call(call) == "\(EPERM)") }
        #expect(try Data(contentsOf: confined.model.url) == Data("weights".utf8))
    }

    @Test(.enabled(if: means.filtersCalls)) func refusesCallsThatLibrariesTry() async throws {
        let confined = try await Confined()
        for call in ConfinedCall.refused { #expect(try await confined.call(call) == "\(EPERM)", "\(call.name)") }
        for call in ConfinedCall.unknown { #expect(try await confined.call(call) == "\(ENOSYS)", "\(call.name)") }
        #expect(try await confined.worker.perform("spawn", "/bin/true") == "\(EPERM)")
        #if arch(x86_64)
        for (name, number) in [("fork", 57), ("vfork", 58), ("chmod", 90), ("creat", 85)] {
            #expect(try await confined.call(ConfinedCall(name, number, 0, ["/tmp/x"])) == "\(EPERM)", "\(name)")
        }
        #endif
        // The same calls with arguments of the process's own.
        for call in [
            ConfinedCall("fcntl(F_GETFL)", 72, 25, ["3", "3"]),
            ConfinedCall("prlimit(get)", 302, 261, ["0", "7", "0", "zeros"]),
            ConfinedCall("tgkill(self)", 234, 131, ["self", "self", "0"]),
            ConfinedCall("getrandom", 318, 278, ["zeros", "8"]),
        ] { #expect(try await confined.call(call) == "0", "\(call.name)") }
    }

    @Test(.enabled(if: means.filtersCalls), arguments: ConfinedCall.fatal) func endsAtAnAttack(call: ConfinedCall)
        async throws
    {
        let worker = try await ProbeWorker.start(["confined"])
        #expect(try await worker.perform(["call", "\(call.number)"] + call.arguments) == nil)
        #expect(await worker.process.wait().reason == .signal(SIGSYS))
    }

    #if arch(x86_64)
    @Test(.enabled(if: means.filtersCalls)) func endsAtCallsOfX32() async throws {
        let worker = try await ProbeWorker.start(["confined"])
        #expect(try await worker.perform("call", "\(0x4000_0000 + 39)") == nil)
        #expect(await worker.process.wait().reason == .signal(SIGSYS))
    }
    #endif

    /// As for a GPU.
    @Test(.enabled(if: means.filtersCalls)) func opensAndControlsGivenDevices() async throws {
        let worker = try await ProbeWorker.start(["confined", "device", "/dev/full"])
        let open = ConfinedCall("openat", 257, 56, ["-100", "/dev/full", "\(O_RDWR)"])
        let descriptor = try await worker.perform(["result", "\(open.number)"] + open.arguments) ?? ""
        #expect((Int(descriptor) ?? -1) > 3)
        let control = ConfinedCall("ioctl", 16, 29, [descriptor, "1", "zeros"])
        #expect(try await worker.perform(["call", "\(control.number)"] + control.arguments) == "\(ENOTTY)")
        let memory = ConfinedCall("memfd_create", 319, 279, ["zeros"])
        #expect(try await worker.perform(["call", "\(memory.number)"] + memory.arguments) == "0")
        if means.landlockVersion != nil { #expect(try await worker.perform("read", "/dev/zero") == "\(EACCES)") }
    }

    @Test func keepsItsLimitOfMemory() async throws {
        let confined = try await Confined(limits: WorkerLimits(dataBytes: 512 << 20))
        #expect(try await confined.worker.perform("allocate", "\(16 << 20)") == "0")
        #expect(try await confined.worker.perform("allocate", "\(600 << 20)") == "\(ENOMEM)")
    }

    /// The thread that watches the parent works under the filter.
    @Test(arguments: ["idle", "spin"]) func endsWhenTheChannelCloses(deed: String) async throws {
        var confined: Confined? = try await Confined()
        let process = try #require(confined?.worker.process)
        if deed == "spin" { try confined?.worker.channel.send(Array("spin".utf8)) }
        confined = nil
        #expect(await process.wait().reason == .status(0))
    }
}
