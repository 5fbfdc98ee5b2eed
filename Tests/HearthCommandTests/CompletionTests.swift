import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

private struct FixedNames: CompletionLookup {
    let installed = ["alpha", "beta"]
    let offered = ["beta", "gamma"]
    let settings = [(key: "threads", meaning: "Threads."), (key: "cloud.kind", meaning: "A cloud.")]
    func values(ofSetting key: String) -> [String] { key == "cloud.kind" ? ["gemini", "openai"] : [] }
}

@Suite struct CompletionTests {
    private func words(_ line: String...) -> [String] {
        Completer(table: HearthCommand.table, names: FixedNames()).candidates(line).map(\.word)
    }

    @Test func completesCommandsAndTheirVerbs() {
        #expect(words("cha") == ["chat", "chats"])
        #expect(words("") == HearthCommand.table.entries.map(\.name))
        #expect(words("--ver") == ["--version"])
        #expect(words("notes", "e") == ["edit", "export"])
        #expect(words("gateway", "keys", "") == ["create", "list", "revoke"])
        #expect(words("-q", "config", "un") == ["unset"])
        #expect(
            words("help", "checksum-") == ["checksum-mismatch", "checksum-missing"].filter(ErrorPage.codes.contains))
        #expect(words("help", "config", "s") == ["set"])
    }

    @Test func completesOptionsAndTheirValues() {
        #expect(words("list", "--for") == ["--format"])
        #expect(words("list", "--format", "") == ["table", "json"])
        #expect(words("list", "--format", "j") == ["json"])
        #expect(words("list", "--format=j") == ["--format=json"])
        #expect(words("list", "--format", "=", "j") == ["json"], "bash makes a word of the equals sign")
        #expect(words("list", "--format", "=") == ["table", "json"])
        #expect(words("list", "--format", "json", "--for") == [], "an option is given once")
        #expect(words("chat", "--image", "a.png", "--ima") == ["--image"], "but this one may be repeated")
        #expect(words("chat", "--schema", "") == [":files"])
        #expect(words("publish", "m.gguf", "--with", "") == [":files"])
        #expect(words("notes", "--for") == ["--format"], "a noun alone lists")
        #expect(words("chat", "--", "--for") == [])
    }

    @Test func completesModelsAndSettings() {
        #expect(words("use", "") == ["alpha", "beta"])
        #expect(words("rm", "a") == ["alpha"])
        #expect(words("pull", "") == ["alpha", "beta", "gamma"])
        #expect(words("chat", "g") == ["gamma"])
        #expect(words("chat", "./m") == [":files"])
        #expect(words("config", "set", "") == ["threads", "cloud.kind"])
        #expect(words("config", "set", "cloud.kind", "g") == ["gemini"])
        #expect(words("config", "set", "cloud.kind", "gemini", "") == [])
        #expect(words("completions", "f") == ["fish"])
    }

    @Test(arguments: [
        [], ["nonsense", ""], ["notes", "nonsense", ""], ["--", ""], ["\u{1B}[2J"], ["chat", "--nonsense", ""],
        ["help", "-"],
        ["config", "set", "nonsense", ""], ["list", "--format", "xml", "--"], ["-", "-", "-"],
    ]) func noLineTripsIt(line: [String]) {
        _ = Completer(table: HearthCommand.table, names: FixedNames()).candidates(line)
    }

    @Test func namesComeFromTheHomeAlone() async throws {
        let folder = try TemporaryFolder()
        try folder.write("home/models/my-model/1.0.0/x", Data())
        try folder.write("home/models/.hidden/x", Data())
        let manifest = """
            {"models": [{"id": "offered", "version": "1.0.0", "url": "https://models.example.org/o-v1.0.0-q4_1.gguf"}]}
            """
        let list = try folder.write("models.json", Data(manifest.utf8))
        let probe = CommandProbe(home: folder.path("home"), environment: ["HEARTH_ORIGIN": list.string])
        #expect(await probe.run("completions", "fish", "--", "pull", "") == 0)
        #expect(probe.output.contents.contains("my-model\tinstalled\n"))
        #expect(!probe.output.contents.contains("hidden"))
        let empty = CommandProbe(home: Path(try folder.write("file", Data()).string + "/home"))
        #expect(await empty.run("completions", "bash", "--", "use", "") == 0)
        #expect(empty.output.contents.isEmpty && empty.errors.contents.isEmpty)
    }

    /// bash reads the script, and completes with the program's answers.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash")))
    func bashCompletes() async throws {
        let folder = try TemporaryFolder()
        let script = try folder.write("hearth.bash", Data(CompletionShell.bash.script.utf8))
        try folder.write("home/models/my-model/1.0.0/x", Data())
        try folder.write("a b.json", Data())
        let test = """
            PATH="\(ChildProcess.hearth.parent.string):$PATH"; cd "\(folder.path.string)"; set -eu
            source "\(script.string)"
            complete -p hearth
            ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hearth hearth "${@: -1}" "" && (IFS=,; echo "${COMPREPLY[*]}"); }
            ask hearth cha; ask hearth use m; ask hearth list --format = ""; ask hearth chat --schema a
            ask hearth nonsense ""
            """
        let result = try await ChildProcess.run(
            ["-c", test], program: Path("/bin/bash"),
            environment: ["HEARTH_HOME": folder.path("home").string, "PATH": "/usr/bin:/bin"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) == [
                "complete -F _hearth hearth", "chat,chats", "my-model", "table,json", "a b.json", "", "",
            ], "\(result.errors)")
    }
}
