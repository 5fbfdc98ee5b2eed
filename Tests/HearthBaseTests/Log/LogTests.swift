import Foundation
import HearthTestSupport
import Testing

@testable import HearthBase

/// One after the other: the log's handler belongs to the whole process.
@Suite(.serialized) struct LogTests {
    /// Entries of the category `test`: other suites run at the same time and write entries of their own.
    private final class Entries: Sendable {
        private let written = Locked<[Log.Entry]>([])

        var lines: [String] { written.withLock { $0 }.map(Log.line) }
        var last: Log.Entry? { written.withLock { $0.last } }

        func record(_ entry: Log.Entry) {
            if entry.category == "test" { written.withLock { $0.append(entry) } }
        }
    }

    @Test func handsEntriesAtOrAboveTheThresholdToTheHandler() async {
        // No other test sets a handler until the end.
        let turn = await RecordedLog.start(.error)
        defer { turn.stop() }
        let entries = Entries()
        Log.use({ entries.record($0) }, threshold: .warning, subsystems: ["store": .debug, "llama": .error])
        defer { Log.use(nil) }
        let isBuilt = Locked(false)
        func text() -> String {
            isBuilt.withLock { $0 = true }
            return "not wanted"
        }
        Log.write(.info, "test", text())
        Log.write(.warning, "test", text(), [.text("built", text())], fileID: "HearthLlama/Engine.swift")
        #expect(!isBuilt.withLock { $0 })
        Log.write(.warning, "test", "one")
        Log.write(.error, "test", "two", [.count("attempts", 3)])
        Log.write(.debug, "test", "three", fileID: "HearthStore/Staging.swift")
        #expect(
            entries.lines == [
                "hearth[basetests.test] warning: one", "hearth[basetests.test] error: two attempts=3",
                "hearth[store.test] debug: three",
            ])
        Log.use(nil)
        Log.write(.error, "test", "four")
        #expect(entries.lines.count == 3)
    }

    @Test func handlersReceiveTypedFields() async throws {
        let turn = await RecordedLog.start(.error)
        defer { turn.stop() }
        let entries = Entries()
        Log.use { entries.record($0) }
        defer { Log.use(nil) }
        let missing = FileError(.notFound, "there is no file")
        Log.write(
            .info, "test", "a file is copied",
            [
                .path(Path("/home/ann/m.gguf")), .bytes("size", UInt64.max), .duration("took", .milliseconds(1500)),
                .flag("linked", false), .error(missing), .error(CancellationError()),
            ], fileID: "HearthStore/Staging.swift")
        let entry = try #require(entries.last)
        #expect(entry.subsystem == "store" && entry.category == "test" && entry.name == "store.test")
        #expect(
            entry.fields.map(\.value) == [
                .text("/home/ann/m.gguf"), .bytes(.max), .duration(.milliseconds(1500)), .flag(false),
                .error(code: "file-not-found", message: "there is no file [file-not-found]"),
                .error(code: "CancellationError", message: "CancellationError()"),
            ])
        #expect(entry.fields.map(\.isPrivate) == [true, false, false, false, true, true])
        let line = try #require(entries.lines.last)
        #expect(
            line == "hearth[store.test] info: a file is copied path=/home/ann/m.gguf size=9223372036854775807 took=1.5s"
                + " linked=false error=file-not-found error-message=\"there is no file [file-not-found]\""
                + " error=CancellationError error-message=CancellationError()")
    }

    @Test(arguments: [
        ("HearthStore/Staging.swift", "store"), ("Hearth/Hearth.swift", "hearth"), ("HearthHTTP/Client.swift", "http"),
        ("MyApp/main.swift", "myapp"),
    ])
    func subsystemsAreModules(file: String, subsystem: String) { #expect(Log.subsystem(ofFile: file) == subsystem) }

    @Test(arguments: [
        ("", LogThresholds(general: nil)), ("info", LogThresholds(general: .info)),
        (
            "WARNING, store = debug,llama=error",
            LogThresholds(general: .warning, bySubsystem: ["store": .debug, "llama": .error])
        ),
        ("store=debug", LogThresholds(general: nil, bySubsystem: ["store": .debug])),
        ("loud,store=,=debug,debug=store", LogThresholds(general: .debug)),
    ])
    func thresholdsAreReadFromTheEnvironment(text: String, thresholds: LogThresholds) {
        #expect(LogThresholds(parsing: text) == thresholds)
    }

    @Test func thresholdsOfSubsystemsReplaceTheGeneralOne() {
        let thresholds = LogThresholds(general: .warning, bySubsystem: ["store": .debug, "llama": .error])
        #expect(thresholds.lowest == .debug)
        #expect(thresholds.passes(.debug, of: "store") && !thresholds.passes(.warning, of: "llama"))
        #expect(thresholds.passes(.warning, of: "transfer") && !thresholds.passes(.info, of: "transfer"))
        #expect(LogThresholds(general: nil).lowest == nil && !LogThresholds(general: nil).passes(.error, of: "store"))
    }

    @Test func levelsAreOrdered() {
        #expect(Log.Level.allCases == Log.Level.allCases.sorted())
        #expect(Log.Level.debug < .info && Log.Level.warning < .error)
    }

    @Test(arguments: [
        ("plain é 日本", "plain é 日本"), ("a\nhearth[x] error: forged", "a\\nhearth[x] error: forged"),
        ("\u{1B}[2J", "\\u{1B}[2J"), ("a\u{2028}b\0", "a\\u{2028}b\\0"),
    ])
    func linesCannotBeForged(text: String, line: String) { #expect(Log.singleLine(text) == line) }

    @Test(arguments: [
        ("plain", "a=plain"), ("", #"a="""#), ("two words", #"a="two words""#), (#"say "hi""#, #"a="say \"hi\"""#),
        ("b=c", #"a="b=c""#), (#"C:\x"#, #"a="C:\\x""#),
    ])
    func fieldsAreQuotedWhereNeeded(value: String, text: String) {
        #expect(Log.Field.text("a", value).description == text)
    }
}
