import Foundation
import HearthTestSupport
import Testing

@testable import HearthBase

struct ErrorTests {
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
