import Foundation
import Hearth
import HearthBase
import HearthDelivery
import HearthTransfer
import Testing

/// Events of a pull as another process reads them.
@Suite struct PullEventTests {
    private static let states: [TransferState] = [
        .queued, .connecting, .downloading, .verifying, .waiting(.offline), .waiting(.metered), .waiting(.paused),
        .retrying(attempt: 2, limit: 5), .extracting, .installing, .preparing, .probing,
    ]

    @Test(arguments: states)
    func aReadingArrivesAsItWas(state: TransferState) throws {
        let reading = TransferProgress(
            state: state, completedBytes: 7, totalBytes: 20, bytesPerSecond: 2, connections: 3, source: "example.org",
            repeatedBytes: 4)
        let line = String(decoding: PullEvent.progress(reading).line, as: UTF8.self)
        #expect(line.hasSuffix("\n") && !line.dropLast().contains("\n"))
        guard case .progress(let read)? = PullEvent(line: line) else {
            Issue.record("\(line) is no reading")
            return
        }
        #expect(read == reading && read.secondsLeft == reading.secondsLeft)
    }

    @Test func aRateWithoutEndIsLeftOut() {
        let reading = TransferProgress(
            state: .downloading, completedBytes: 0, totalBytes: nil, bytesPerSecond: .infinity)
        let line = String(decoding: PullEvent.progress(reading).line, as: UTF8.self)
        #expect(
            line == #"{"completedBytes":0,"connections":0,"event":"progress","phase":"downloading"}"# + "\n")
    }

    @Test(arguments: [ErrorDisposition.failed, .usage, .tryLater, .interrupted])
    func aFailureKeepsItsFacts(disposition: ErrorDisposition) throws {
        let context = ErrorContext(
            model: "m", file: "f", url: "u", field: "d", expected: "e", found: "o", remedy: "Wait.")
        let error = DeliveryError(
            .notEnoughMemory, "it is \"large\"", context: context, disposition: disposition)
        guard case .failed(let read)? = PullEvent(line: String(decoding: PullEvent(error).line, as: UTF8.self)) else {
            Issue.record("no failure was read")
            return
        }
        #expect(read.codeText == error.codeText && read.message == error.message)
        #expect(read.context == context && read.disposition == disposition)
    }

    @Test(
        arguments: [
            "", "{", "[]", "5", #"{"event":"later"}"#, #"{"event":"progress"}"#,
            #"{"event":"progress","phase":"downloading","completedBytes":-1}"#,
            #"{"event":"done","family":"toy"}"#, #"{"event":"error","code":5,"message":"x"}"#,
        ])
    func whatIsNoEventIsLeftOut(line: String) { #expect(PullEvent(line: line) == nil) }
}
