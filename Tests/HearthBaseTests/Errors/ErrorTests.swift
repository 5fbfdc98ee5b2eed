import Foundation
import HearthTestSupport
import Testing

@testable import HearthBase

struct ErrorTests {
    @Test func codesOfOtherVersionsDecodeToUnknown() throws {
        let json = Data(#"["file-not-found", "invented-tomorrow", "", "unknown"]"#.utf8)
        let codes = try JSONDecoder().decode([ErrorCode<Path>].self, from: json)
        #expect(codes == [.notFound, .unknown, .unknown, .unknown])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ErrorCode<Path>].self, from: Data("[1]".utf8))
        }
    }

    @Test func codesEncodeAsTheirText() throws {
        let data = try JSONEncoder().encode([ErrorCode<GGUFErrorDomain>.notGGUF])
        #expect(String(decoding: data, as: UTF8.self) == #"["not-gguf"]"#)
    }

    @Test func codesAreKebabCaseAndUnique() {
        let codes = Path.errorCodes.map(\.rawValue) + GGUFErrorDomain.errorCodes.map(\.rawValue)
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
        (ENOENT, ErrorCode<Path>.notFound), (EACCES, .permissionDenied), (EPERM, .permissionDenied),
        (EROFS, .readOnly), (ENOSPC, .diskFull), (EDQUOT, .diskFull), (ENOTDIR, .notADirectory),
        (EEXIST, .alreadyExists), (ENOTEMPTY, .alreadyExists), (EIO, .ioFailure), (EMFILE, .ioFailure),
    ])
    func systemNumbersHaveCodes(number: Int32, code: ErrorCode<Path>) {
        let error = FileError(errno: number, doing: "open", path: Path("/x"))
        #expect(error.code == code && error.context.file == "/x")
        #expect(error.message.hasPrefix("cannot open /x: "))
    }
}
