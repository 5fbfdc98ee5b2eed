import Foundation
import Hearth
import HearthBase
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
}
