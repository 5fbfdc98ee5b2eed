import Foundation
import HearthBase
import HearthTestSupport
import Testing

/// Whether this process may make mounts of its own, which vanish with the child that made them.
private func canMount() async -> Bool {
    guard geteuid() == 0 else { return false }
    let mounting = try? await ChildProcess.run(
        ["-c", "unshare -m mount -t tmpfs tmpfs /mnt"], program: Path("/bin/sh"), environment: ["PATH": searchPath])
    return mounting?.status == 0
}

private let searchPath = "/usr/sbin:/usr/bin:/sbin:/bin"

/// Where a machine is full, closed, wrong or absent: one clear sentence, a stable code, the right status.
@Suite(.timeLimit(.minutes(10))) struct HostileMachineTests {
    /// An origin with a model of 32 MiB, served by nobody.
    private func origin() async throws -> HearthLab {
        let lab = try HearthLab()
        let file = try lab.folder.write("big-v1.0.0.onnx", Data(repeating: 7, count: 32 << 20))
        let published = try await ChildProcess.run(["publish", file.string, "--to", lab.origin])
        #expect(published.status == 0, "\(published.errors)")
        return lab
    }

    private func pull(in lab: HearthLab, after mount: String, home: String) async throws -> ChildProcess.Result {
        try await ChildProcess.run(
            ["-c", "unshare -m /bin/sh -c '\(mount) && exec \"$0\" pull big' \"$0\"", ChildProcess.hearth.string],
            program: Path("/bin/sh"),
            environment: [
                "HEARTH_HOME": home, "HEARTH_ORIGIN": lab.origin + "/models.json", "PATH": searchPath,
            ])
    }

    private func expectOneSentence(_ result: ChildProcess.Result, _ code: String) {
        let sentences = result.errors.split(separator: "\n").filter { $0.hasPrefix("hearth: ") }
        #expect(result.status == 1)
        #expect(sentences.count == 1)
        #expect(sentences.first?.hasSuffix("[\(code)]") == true, "\(result.errors)")
    }

    @Test(.enabled("mounting needs root", canMount)) func aFullDisk() async throws {
        let lab = try await origin()
        let small = lab.folder.path("small").string
        let mount = "mkdir -p \(small) && mount -t tmpfs -o size=16m tmpfs \(small)"
        expectOneSentence(try await pull(in: lab, after: mount, home: small + "/home"), "insufficient-storage")
    }

    @Test(.enabled("mounting needs root", canMount)) func aReadOnlyHome() async throws {
        let lab = try await origin()
        let closed = lab.folder.path("closed").string
        let mount =
            "mkdir -p \(closed) && mount --bind \(closed) \(closed) && mount -o remount,ro,bind \(closed)"
        expectOneSentence(try await pull(in: lab, after: mount, home: closed + "/home"), "read-only")
    }

    @Test func aHomeBelowARegularFile() async throws {
        let lab = try await origin()
        let file = try lab.folder.write("file", Data("x".utf8))
        expectOneSentence(try await pull(in: lab, after: "true", home: file.string + "/home"), "not-a-folder")
    }

    @Test func aPortInUse() async throws {
        let lab = try HearthLab()
        let file = try lab.folder.write("big-v1.0.0.onnx", Data(repeating: 7, count: 1000))
        _ = try await lab.serve(file)
        let port = try #require(URL(string: lab.manifest)?.port)
        expectOneSentence(try await lab.run("host", lab.origin, "--port", "\(port)"), "port-in-use")
    }

    @Test func anAbsentServer() async throws {
        let folder = try TemporaryFolder()
        let result = try await ChildProcess.run(
            ["pull", "m"],
            environment: ["HEARTH_HOME": folder.path("h").string, "HEARTH_ORIGIN": "http://127.0.0.1:1/models.json"])
        #expect(result.status == 75)
        #expect(result.errors.contains("[origin-unreachable]"))
    }

    @Test(
        arguments: [
            (["--version"], 0), (["--help"], 0), (["pull", "--help"], 0), ([], 0), (["nonsense"], 64),
            (["pull"], 64), (["use", "m@1"], 1), (["config", "get", "threads"], 1),
        ] as [([String], Int32)])
    func exitStatuses(words: [String], status: Int32) async throws {
        let folder = try TemporaryFolder()
        let result = try await ChildProcess.run(words, environment: ["HEARTH_HOME": folder.path("h").string])
        #expect(result.status == status)
        #expect(result.output.isEmpty == (status != 0))
    }

    @Test func aReaderThatLeftIsNoFailure() async throws {
        let child = try ChildProcess(["--help"], outputIsClosed: true)
        let result = await child.result()
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
    }
}
