import Foundation
import HearthTestSupport
import Testing

@testable import HearthBase

struct ErrorTests {
    @Test func codesOfOtherVersionsDecodeToUnknown() throws {
        let json = Data(#"["file-not-found", "invented-tomorrow", "", "unknown"]"#.utf8)
        let codes = try JSONDecoder().decode([ErrorCode<FileErrorDomain>].self, from: json)
        #expect(codes == [.notFound, .unknown, .unknown, .unknown])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ErrorCode<FileErrorDomain>].self, from: Data("[1]".utf8))
        }
    }

    @Test func codesEncodeAsTheirText() throws {
        let data = try JSONEncoder().encode([ErrorCode<GGUFErrorDomain>.notGGUF])
        #expect(String(decoding: data, as: UTF8.self) == #"["not-gguf"]"#)
    }

    @Test func codesAreKebabCaseAndUnique() {
        let codes = FileErrorDomain.codes.map(\.rawValue) + GGUFErrorDomain.codes.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        for code in codes {
            #expect(
                !code.isEmpty && code.utf8.allSatisfy { (97...122).contains($0) || $0 == UInt8(ascii: "-") }, "\(code)")
        }
    }

    @Test func readsAsASentenceWithCodeAndCause() {
        let cause = FileError(errno: ENOSPC, doing: "write", path: Path("/a"))
        let error = GGUFError(
            .corrupt, "the header is damaged", context: ErrorContext(remedy: "Fetch it again."), underlying: cause)
        #expect(error.errorDescription == "the header is damaged. Fetch it again.")
        #expect(
            error.description
                == "the header is damaged [gguf-corrupt] <- cannot write /a: no space left on the device [disk-full]")
        #expect(error.localizedDescription == error.errorDescription)
        #expect(error.disposition.exitStatus == 1)
    }

    @Test(arguments: [
        (ENOENT, ErrorCode<FileErrorDomain>.notFound), (EACCES, .permissionDenied), (EPERM, .permissionDenied),
        (EROFS, .readOnly), (ENOSPC, .diskFull), (EDQUOT, .diskFull), (ENOTDIR, .notADirectory),
        (EEXIST, .alreadyExists), (ENOTEMPTY, .alreadyExists), (EIO, .ioFailure), (EMFILE, .ioFailure),
    ])
    func systemNumbersHaveCodes(number: Int32, code: ErrorCode<FileErrorDomain>) {
        let error = FileError(errno: number, doing: "open", path: Path("/x"))
        #expect(error.code == code && error.context.file == "/x")
        #expect(error.message.hasPrefix("cannot open /x: "))
    }
}

/// One after the other: the log's handler belongs to the whole process.
@Suite(.serialized) struct LogTests {
    @Test func handsEntriesAtOrAboveTheThresholdToTheHandler() async {
        // Nobody else's handler until the end.
        let turn = await RecordedLog.start(.error)
        defer { turn.stop() }
        let entries = Locked<[String]>([])
        // Other suites run meanwhile, and may have something to say too.
        Log.use(
            { entry in
                guard entry.subsystem == "test.log" else { return }
                entries.withLock { $0.append("\(entry.level.rawValue) \(entry.message)") }
            }, threshold: .warning)
        defer { Log.use(nil) }
        let isBuilt = Locked(false)
        func text() -> String {
            isBuilt.withLock { $0 = true }
            return "not wanted"
        }
        Log.write(.info, "test.log", text())
        Log.write(.warning, "test.log", "one")
        Log.write(.error, "test.log", "two")
        #expect(entries.withLock { $0 } == ["warning one", "error two"])
        #expect(!isBuilt.withLock { $0 })
        Log.use(nil)
        Log.write(.error, "test.log", "three")
        #expect(entries.withLock { $0.count } == 2)
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
}
