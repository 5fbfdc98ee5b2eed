import Foundation
import Hearth
import HearthBase
import HearthServer
import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct RedactorTests {
    private let redactor = Redactor(
        modelHome: "/home/ada/.local/share/hearth", shownAs: "$HEARTH_HOME", userHome: "/home/ada", userName: "ada",
        hostName: "lovelace")

    @Test(arguments: [
        ("/home/ada/.local/share/hearth/models", "$HEARTH_HOME/models"), ("/home/ada/x", "~/x"), ("/home/ada", "~"),
        ("/home/adamant/x", "/home/<user>/x"), ("/Users/eve/x and /home/bob", "/Users/<user>/x and /home/<user>"),
        ("ada on lovelace", "<user> on <host>"), ("adage", "adage"), ("run by ada.", "run by <user>."),
        ("https://ada:secret@models.example.org/m.json?token=x is down", "https://<host> is down"),
        ("http://127.0.0.1:8080/models.json", "http://<host>"), ("'https://a.b/c'", "'https://<host>'"),
        ("see ://nothing", "see ://nothing"), ("file:///home/ada/models.json", "file://~/models.json"),
        ("token hf_abcdefghijkl", "token <removed>"),
        ("key=0123456789abcdef0123456789abcdef", "<removed>"), ("", ""), ("   ", "   "),
        ("x86_64 avx512_vnni llama.cpp b7000", "x86_64 avx512_vnni llama.cpp b7000"),
        ("two https://a.b https://c.d", "two https://<host> https://<host>"),
    ])
    func takesOutWhoAndWhere(text: String, expected: String) {
        #expect(redactor.redacted(text) == expected)
    }

    @Test func theRootFolderIsNotAHome() {
        let redactor = Redactor(
            modelHome: "/srv/h", shownAs: "$HEARTH_HOME", userHome: "/", userName: nil, hostName: "")
        #expect(redactor.redacted("/srv/h/x /etc") == "$HEARTH_HOME/x /etc")
    }
}

@Suite struct DoctorTests {
    // Without an engine doctor has a complaint of its own.
    @Test(.enabled(if: EngineOpening.runsGGUF)) func aNewHomeIsHealthy() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("doctor") == 0)
        #expect(probe.output.contents.contains("not made yet"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("home").string))
    }

    @Test func whatIsWrongComesWithACureAndStatus1() async throws {
        let folder = try TemporaryFolder()
        try folder.write("home/config.json", Data("{]".utf8))
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("doctor", "--format", "json") == 1)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(probe.output.contents.utf8)) as? [String: Any])
        let findings = try #require(object["findings"] as? [[String: String]])
        #expect(findings.contains { $0["code"] == "invalid-configuration" && $0["cure"] != nil })
    }

    @Test func theReportShowsNobody() async throws {
        let folder = try TemporaryFolder()
        try folder.write("home/config.json", Data("{]".utf8))
        let probe = CommandProbe(
            home: folder.path("home"),
            environment: ["HOME": folder.path.string, "HEARTH_ORIGIN": "https://secret.example/m"])
        _ = await probe.run("doctor", "--report")
        #expect(!probe.output.contents.contains(folder.path.string))
        #expect(!probe.output.contents.contains("secret.example"))
        #expect(probe.output.contents.contains("$HEARTH_HOME"))
    }

    /// The codes that doctor finds in a home.
    private func codes(_ folder: TemporaryFolder) async throws -> [String] {
        let probe = CommandProbe(home: folder.path("home"))
        _ = await probe.run("doctor", "--format", "json")
        let findings = try JSONValue(parsing: Data(probe.output.contents.utf8)).members?["findings"]?.items ?? []
        for finding in findings { #expect(finding.members?["cure"]?.string?.isEmpty == false) }
        return findings.compactMap { $0.members?["code"]?.string }
    }

    /// Modes that keep the owner out, or let others in.
    @Test(
        arguments: [
            ("models", true, UInt32(0o000), "permission-denied"), ("calendar", true, 0o500, "permission-denied"),
            ("hearth.db", false, 0o400, "permission-denied"), ("config.json", false, 0o644, "readable-by-others"),
            ("chat-history", false, 0o640, "readable-by-others"), ("server", true, 0o755, "readable-by-others"),
            ("notes", true, 0o777, "changeable-by-others"), ("calendar", true, 0o700, nil),
            ("models", true, 0o755, nil),
            ("hearth.db", false, 0o600, nil),
        ] as [(String, Bool, UInt32, String?)])
    func wrongModesAreFound(name: String, isFolder: Bool, mode: UInt32, code: String?) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("home/\(name)")
        if isFolder {
            try LocalFileSystem().makeFolders(path)
        } else {
            try folder.write("home/\(name)", Data("{}".utf8))
        }
        #expect(chmod(path.string, mode_t(mode)) == 0)
        defer { chmod(path.string, 0o700) }
        let access = AccessExamination(home: folder.path("home"), fileSystem: LocalFileSystem())
        #expect(access.findings().map(\.code) == (code.map { [$0] } ?? []))
        #expect(access.findings().allSatisfy { $0.cure?.contains(path.string) == true })
    }

    @Test func filesOfAnotherUserAreFound() throws {
        let folder = try TemporaryFolder()
        try folder.write("home/hearth.db", Data())
        let access = AccessExamination(home: folder.path("home"), fileSystem: LocalFileSystem(), user: geteuid() + 1)
        #expect(Set(access.findings().map(\.code)) == ["permission-denied"])
        #expect(access.findings().count == 2)
    }

    @Test(arguments: [
        (UInt64(0), "disk-full"), (1 << 20, "disk-full"), (500 << 20, "disk-nearly-full"), (8 << 30, nil),
    ])
    func aFullDiskIsFound(free: UInt64, code: String?) throws {
        let folder = try TemporaryFolder()
        try LocalFileSystem().makeFolders(folder.path("home"))
        let (_, findings) = HomeExamination(home: folder.path("home"), fileSystem: SmallDisk(free: free)).result()
        #expect(findings.map(\.code) == (code.map { [$0] } ?? []))
    }

    /// One bad setting leaves the other chapters, and can be set again.
    @Test func theDefaultModelThatIsGoneIsFoundBesideABadSetting() async throws {
        let folder = try TemporaryFolder()
        try folder.write("home/config.json", Data(#"{"temperature": "hot", "defaultModel": "gone"}"#.utf8))
        let found = try await codes(folder)
        #expect(found.contains("not-installed") && found.contains("invalid-configuration"))
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "set", "temperature", "0.5") == 0)
        #expect(await probe.run("config", "unset", "defaultModel") == 0)
        let later = try await codes(folder)
        #expect(!later.contains("not-installed") && !later.contains("invalid-configuration"))
    }

    @Test func anOccupiedPortIsFound() async throws {
        let socket = try await blocking { try ListeningSocket(host: "127.0.0.1", port: 0) }
        let port = try #require(socket.address?.port)
        let folder = try TemporaryFolder()
        try folder.write("home/config.json", Data(#"{"serve": {"port": \#(port)}}"#.utf8))
        #expect(try await codes(folder).contains("port-in-use"))
        withExtendedLifetime(socket) {}
    }

    /// A process that holds the claim and does not answer.
    @Test func aServerThatHangsIsFound() async throws {
        let folder = try TemporaryFolder()
        let place = ResidentPlace(home: folder.path("home"), environment: [:])
        let claim = try await blocking {
            try place.prepare()
            return try place.claim(time: .system)
        }
        #expect(claim != nil)
        #expect(try await codes(folder).contains("no-answer"))
        claim?.release()
        #expect(try await !codes(folder).contains("no-answer"))
    }
}

/// A disk with little free space.
private struct SmallDisk: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    let free: UInt64

    func freeSpace(at path: Path) throws -> UInt64 { free }
}
