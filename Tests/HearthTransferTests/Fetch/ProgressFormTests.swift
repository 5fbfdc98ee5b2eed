import Foundation
import HearthBase
import HearthTransfer
import Testing

/// The wire form of progress, which the command, the page and a resident pull share.
@Suite struct ProgressFormTests {
    private static let states: [TransferState] = [
        .queued, .connecting, .downloading, .verifying, .waiting(.offline), .waiting(.metered), .waiting(.paused),
        .retrying(attempt: 2, limit: 3), .extracting, .installing, .preparing, .probing,
    ]

    @Test(arguments: states) func isReadBack(state: TransferState) throws {
        let reading = TransferProgress(
            state: state, completedBytes: 5, totalBytes: 10, bytesPerSecond: 2, connections: 4, source: "host",
            repeatedBytes: 1)
        let data = try JSON.data(reading)
        #expect(try JSON.value(TransferProgress.self, data) == reading)
        let members = try JSONValue(parsing: data)
        #expect(members["phase"]?.string == state.word)
        #expect(members["secondsLeft"] == .number("3"))
    }

    @Test func leavesOutWhatJSONDoesNotHave() throws {
        let reading = TransferProgress(
            state: .downloading, completedBytes: 5, totalBytes: nil, bytesPerSecond: .infinity)
        #expect(try JSON.text(reading) == #"{"completedBytes":5,"connections":0,"phase":"downloading"}"#)
    }

    @Test(arguments: ["{}", #"{"phase":"downloading","completedBytes":-1}"#, #"{"phase":2,"completedBytes":1}"#])
    func refusesWhatIsNoReading(text: String) {
        #expect(throws: DecodingError.self) { try JSON.value(TransferProgress.self, Data(text.utf8)) }
    }

    /// A later version may have more phases.
    @Test func anUnknownPhaseIsADownload() throws {
        let text = #"{"phase":"polishing","completedBytes":1}"#
        #expect(try JSON.value(TransferProgress.self, Data(text.utf8)).state == .downloading)
    }
}
