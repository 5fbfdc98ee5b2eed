import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCommand

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The resident process as a program, with the command lines that use it.
@Suite(.timeLimit(.minutes(5))) struct ServeTests {
    private static let weights = ModelFiles.gguf(payload: [UInt8](repeating: 7, count: 4 << 20))

    /// A lab with a model at its origin, and a resident process; stops it whatever happens.
    private func with(
        _ words: [String] = [], _ body: @Sendable (HearthLab) async throws -> Void
    ) async throws {
        let lab = try HearthLab()
        let model = try lab.folder.write("big-v1.0.0-q8_0.gguf", Self.weights)
        #expect(try await lab.serve(model).status == 0)
        let started = try await ChildProcess.run(
            ["serve", "--detach", "--port", "0"] + words, environment: lab.environment)
        #expect(started.status == 0, "\(started.errors)")
        #expect(started.output.hasPrefix("http"))
        #expect(started.errors.contains("/hearth/open?code="))
        do {
            try await body(lab)
        } catch {
            _ = try await lab.run("stop")
            throw error
        }
        #expect(try await lab.run("stop").status == 0)
    }

    private func server(_ lab: HearthLab) async throws -> JSONMembers? {
        let shown = try await lab.run("ps", "--format", "json")
        return try JSONValue(parsing: Data(shown.output.utf8)).members?["server"]?.members
    }

    private func states(_ lab: HearthLab) async throws -> [String] {
        let listed = try await lab.run("transfers", "list", "--format", "json")
        return try JSONValue(parsing: Data(listed.output.utf8)).items?.compactMap { $0.members?["state"]?.string } ?? []
    }

    @Test func servesAHomeOnce() async throws {
        try await with { lab in
            let process = try #require(try await server(lab)?["process"]?.wholeNumber)
            let second = try await lab.run("serve", "--port", "0")
            #expect(second.status == 75)
            #expect(second.errors.contains("[already-serving]"))
            let again = try await lab.run("serve", "--detach")
            #expect(again.status == 0)
            #expect(try await server(lab)?["process"]?.wholeNumber == process)
        }
    }

    @Test func goesOnWithADownloadWhoseCommandWasKilled() async throws {
        try await with { lab in
            let pull = try ChildProcess(
                ["pull", "big", "--no-probe", "--limit-rate", "250K"], environment: lab.environment)
            for await line in pull.errorLines where line.contains("downloading") { break }
            #expect(try await states(lab) == ["running"])
            #expect(try await server(lab)?["jobs"]?.items?.count == 1)
            pull.send(SIGKILL)
            #expect(await pull.result().status == 128 + SIGKILL)
            #expect(try await states(lab) == ["running"])
            // The same command joins the download, and returns with its end.
            let joined = try await lab.run("pull", "big", "--no-probe")
            #expect(joined.status == 0, "\(joined.errors)")
            #expect(try await lab.run("list").output.contains("big"))
        }
    }

    @Test func stopsADownloadAtTheUsersWord() async throws {
        try await with { lab in
            let pull = try ChildProcess(
                ["pull", "big", "--no-probe", "--limit-rate", "500K"], environment: lab.environment)
            for await line in pull.errorLines where line.contains("downloading") { break }
            pull.send(SIGINT)
            let result = await pull.result()
            #expect(result.status == 130)
            #expect(result.errors.contains("are kept, and the same command continues with them"))
            #expect(try await states(lab) == ["interrupted"])
        }
    }

    @Test func saysTheSameAsACommandAlone() async throws {
        try await with { lab in
            let served = try await lab.run("pull", "absent")
            var alone = lab.environment
            alone["HEARTH_ALONE"] = "1"
            let own = try await ChildProcess.run(["pull", "absent"], environment: alone)
            #expect(served.status == own.status)
            #expect(served.errors == own.errors)
            let events = try await lab.run("pull", "absent", "--format", "json")
            let ownEvents = try await ChildProcess.run(["pull", "absent", "--format", "json"], environment: alone)
            #expect(events.output == ownEvents.output)
        }
    }

    @Test func continuesWhatAKilledProcessLeft() async throws {
        try await with { lab in
            let pull = try ChildProcess(
                ["pull", "big", "--no-probe", "--limit-rate", "1M"], environment: lab.environment)
            for await line in pull.errorLines where line.contains("downloading") { break }
            let process = try #require(try await server(lab)?["process"]?.number)
            kill(pid_t(truncating: process as NSDecimalNumber), SIGKILL)
            let result = await pull.result()
            #expect(result.status == 75)
            #expect(result.errors.contains("[no-answer]"))
            #expect(try await lab.run("serve", "--detach", "--port", "0").status == 0)
            // The restored download is joined, or has ended.
            let joined = try await lab.run("pull", "big", "--no-probe")
            #expect(joined.status == 0, "\(joined.errors)")
        }
    }

    /// A restored download that waits for its origin keeps no one from ending the process.
    @Test func endsWhileARestoredDownloadWaits() async throws {
        try await with { lab in
            let pull = try ChildProcess(
                ["pull", "big", "--no-probe", "--limit-rate", "1M"], environment: lab.environment)
            for await line in pull.errorLines where line.contains("downloading") { break }
            let process = try #require(try await server(lab)?["process"]?.number)
            kill(pid_t(truncating: process as NSDecimalNumber), SIGKILL)
            #expect(await pull.result().status == 75)
            // Its connections are accepted, and get no reply.
            lab.signalHost(SIGSTOP)
            #expect(try await lab.run("serve", "--detach", "--port", "0").status == 0)
            #expect(try await server(lab)?["jobs"]?.items?.count == 1)
            let clock = ContinuousClock()
            let begin = clock.now
            #expect(try await lab.run("stop").status == 0)
            #expect(clock.now - begin < .seconds(15))
            lab.signalHost(SIGCONT)
            #expect(try await states(lab) == ["interrupted"])
        }
    }

    @Test func refusesOtherMachinesWithoutAKey() async throws {
        let lab = try HearthLab()
        func serve(_ words: String...) async throws -> ChildProcess.Result {
            try await ChildProcess.run(
                ["serve", "--host", "0.0.0.0", "--port", "0"] + words, environment: lab.environment)
        }
        #expect(try await serve().errors.contains("[key-required]"))
        #expect(try await serve("--insecure").errors.contains("[key-required]"))
        let key = try await lab.run("keys", "create", "phone")
        #expect(key.status == 0 && key.output.hasPrefix("hearth-"))
        let listed = try await lab.run("keys", "list")
        #expect(listed.output.contains("phone") && !listed.output.contains(key.output.dropFirst(20)))
        let clear = try await serve()
        #expect(clear.status == 1 && clear.errors.contains("[key-required]"))
        #expect(try await serve("--tls-cert", "absent.pem").status == 64)
        let id = listed.output.split(separator: "\n").dropFirst().first?.prefix(8) ?? ""
        #expect(try await lab.run("keys", "revoke", String(id)).status == 0)
        #expect(try await lab.run("keys", "revoke", String(id)).errors.contains("[unknown-key]"))
        #expect(try await lab.run("stop").errors.contains("No process serves this home"))
    }

    /// One line with a code on the output, which is no terminal; the page opens once with it, and nothing else does.
    @Test func opensThePageToTheNetworkWithoutAKey() async throws {
        let lab = try HearthLab()
        #expect(try await lab.run("serve", "--lan", "--host", "0.0.0.0").status == 64)
        let started = try await ChildProcess.run(
            ["serve", "--detach", "--lan", "--port", "0"], environment: lab.environment)
        #expect(started.status == 0, "\(started.errors)")
        let form = /(http:\/\/[0-9a-f.:\[\]]+:\d+)\/hearth\/open\?code=([0-9A-Z]{4}-[0-9A-Z]{4})\n/
        let match = try #require(started.output.wholeMatch(of: form), "\(started.output)")
        let (address, code) = (String(match.1), String(match.2))
        func status(_ method: String, _ path: String, _ body: String? = nil, accept: String = "*/*") async throws -> Int
        {
            let url = try #require(URL(string: address + path))
            var request = HTTPRequest(url, method: method)
            request.headers["Accept"] = accept
            // The client asks other machines over http at pinned addresses only.
            request.pinnedAddresses = [try #require(url.host())]
            if let body {
                request.headers["Content-Type"] = "application/json"
                request.body = Data(body.utf8)
            }
            return try await CurlHTTPClient().execute(request).status
        }
        let isElsewhere = !address.hasPrefix("http://127.")
        #expect(try await status("GET", "/", accept: "text/html") == 401)
        // Clients of Ollama ask whether it runs.
        #expect(try await status("GET", "/") == 200)
        #expect(try await status("GET", "/v1/models") == (isElsewhere ? 401 : 200))
        #expect(try await status("POST", "/hearth/open", #"{"code": "0000-0000"}"#) == 403)
        let order = #"{"code": "\#(code.lowercased().replacing("-", with: " "))"}"#
        #expect(try await status("POST", "/hearth/open", order) == 200)
        #expect(try await status("POST", "/hearth/open", order) == 403)
        // Another code for the same process.
        let again = try await ChildProcess.run(["serve", "--detach", "--lan"], environment: lab.environment)
        #expect(again.status == 0 && again.output.hasPrefix(address) && again.output != started.output)
        #expect(try await lab.run("stop").status == 0)
    }

    /// The socket is systemd's, which starts the process at the first connection.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-socket-activate")))
    func isStartedByItsSocket() async throws {
        let lab = try HearthLab()
        // A free port: nothing takes it in the moment between.
        let port = try FreePort.take()
        let home = lab.folder.path("home")
        // A shell in between: systemd's program closes the descriptor by which Foundation learns of a child's end.
        let command = "/usr/bin/systemd-socket-activate \"$@\"; exit $?"
        let words = ["-l", "127.0.0.1:\(port)", "-E", "HEARTH_HOME=\(home)", ChildProcess.hearth.string, "serve"]
        let manager = try ChildProcess(
            ["-c", command, "sh"] + words, program: Path("/bin/sh"), environment: lab.environment)
        for await line in manager.errorLines where line.hasPrefix("Listening on") { break }
        let answer = try await CurlHTTPClient().execute(
            HTTPRequest(try #require(URL(string: "http://127.0.0.1:\(port)/ready"))))
        #expect(answer.status == 200)
        #expect(try await server(lab)?["address"] == .string("http://127.0.0.1:\(port)"))
        #expect(try await lab.run("stop").status == 0)
        #expect(await manager.result().status == 0)
    }

    @Test func writesUnits() async throws {
        let lab = try HearthLab()
        let written = try await lab.run("serve", "--install-unit")
        #expect(written.status == 0)
        let paths = written.output.split(separator: "\n").map(String.init)
        #expect(paths.map { Path($0).lastComponent } == ["hearth.service", "hearth.socket"])
        let texts = try paths.map {
            String(decoding: try Data(contentsOf: URL(fileURLWithPath: $0)), as: UTF8.self)
        }
        #expect(texts[0].contains("ExecStart=\"\(ChildProcess.hearth)\" serve") && texts[0].contains("Type=notify"))
        // Workers run in the same control group.
        #expect(texts[0].contains("\nKillMode=mixed\n") && texts[0].contains("\nOOMPolicy=continue\n"))
        #expect(texts[1].contains("ListenStream=127.0.0.1:4327"))
    }
}

/// A TCP port of this machine that no program listens on.
private enum FreePort {
    static func take() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(result)
        return UInt16(bigEndian: address.sin_port)
    }
}

extension JSONValue {
    fileprivate var wholeNumber: Int64? { if case .number(let digits) = self { Int64(digits) } else { nil } }
}
