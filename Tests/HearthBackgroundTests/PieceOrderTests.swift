import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthBackground

/// Orders, their texts, and how files are cut.
@Suite struct PieceOrderTests {
    private static let digest = SHA256Digest(hashing: Array("weights".utf8))

    private func order(_ range: Range<UInt64>, of size: UInt64 = 100, id: String = "a-1") throws -> PieceOrder {
        PieceOrder(
            id: id, digest: Self.digest, size: size, range: range, attempt: 2,
            address: try #require(URL(address: "https://models.example.org/weights.gguf?key=1")))
    }

    @Test func aDescriptionIsReadBack() throws {
        let order = try order(10..<20)
        #expect(PieceOrder(description: try order.description) == order)
        #expect(order.rangeField == "bytes=10-19")
        #expect(try self.order(0..<100).rangeField == nil)
    }

    /// Descriptions of other programs, of other versions, and hostile ones.
    @Test(arguments: [
        nil, "", "a title", "{}", String(repeating: "a", count: 20_000), #""start":20,"end":20"#,
        #""start":30,"end":20"#,
        #""start":0,"end":101"#, #""start":0,"end":10,"format":2"#, #""start":0,"end":10,"sha256":"00""#,
        #""start":0,"end":10,"url":"not an address""#, #""start":-1,"end":10"#, #""start":0,"end":10,"attempt":-1"#,
    ])
    func otherDescriptionsAreRefused(text: String?) throws {
        guard let text, text.hasPrefix("\"start\"") else {
            #expect(PieceOrder(description: text) == nil)
            return
        }
        let good = try order(0..<10).description
        var members = try #require(try JSONSerialization.jsonObject(with: Data(good.utf8)) as? [String: Any])
        let changes = try #require(try JSONSerialization.jsonObject(with: Data("{\(text)}".utf8)) as? [String: Any])
        members.merge(changes) { $1 }
        let changed = try JSONSerialization.data(withJSONObject: members)
        #expect(PieceOrder(description: String(decoding: changed, as: UTF8.self)) == nil)
        #expect(PieceOrder(description: good) != nil)
    }

    @Test(arguments: [
        (-1005, PieceFailure.interrupted(resumeData: nil)), (-999, .interrupted(resumeData: nil)),
        (-3006, .cannotResume), (-3007, .cannotResume), (-3000, .cannotKeep), (-3003, .cannotKeep),
        (-3005, .cannotKeep),
    ])
    func codesOfTheSystem(code: Int, failure: PieceFailure) {
        #expect(PieceFailure(code: code, resumeData: nil) == failure)
    }

    // MARK: - Pieces

    private static let limits = PieceLimits(length: 10, count: 4)

    @Test(arguments: [
        (RangeSet(0..<10), [0..<10]), (RangeSet(0..<25), [0..<10, 10..<20, 20..<25]),
        // Longer pieces where there would be too many.
        (RangeSet(0..<100), [0..<40, 40..<80, 80..<100]),
        (RangeSet([0..<3, 5..<8]), [0..<3, 5..<8]),
        // The nearest gaps are joined.
        (RangeSet([0..<3, 5..<8, 9..<12, 20..<22, 40..<41]), [0..<3, 5..<12, 20..<22, 40..<41]),
        (RangeSet<UInt64>(), []),
    ])
    func aFileIsCut(missing: RangeSet<UInt64>, pieces: [Range<UInt64>]) {
        let held = RangeSet(0..<UInt64(100)).subtracting(missing)
        #expect(Self.limits.cut(missing, held: held, count: 4) == pieces)
    }

    /// Gaps are not joined over bytes that are ordered already; the longest come first.
    @Test func gapsAroundOrdersAreNotJoined() {
        let missing = RangeSet<UInt64>([0..<3, 5..<10, 12..<20])
        #expect(Self.limits.cut(missing, held: RangeSet(), count: 2) == [5..<10, 12..<20])
        #expect(Self.limits.cut(missing, held: RangeSet(), count: 0) == [])
    }

    @Test func theDefaultsSuitTheSystem() {
        let gibibyte: UInt64 = 1 << 30
        let limits = PieceLimits()
        #expect(limits.cut(RangeSet(0..<gibibyte), held: RangeSet(), count: 16).count == 1)
        #expect(limits.cut(RangeSet(0..<gibibyte + 1), held: RangeSet(), count: 16).count == 2)
        #expect(limits.cut(RangeSet(0..<40 * gibibyte), held: RangeSet(), count: 16).count == 10)
        #expect(limits.cut(RangeSet(0..<UInt64(Int64.max)), held: RangeSet(), count: 16).count <= 16)
    }

    // MARK: - Tasks of the system

    /// Two tasks for the same bytes, as two processes with one session might begin: one stays.
    @Test func tasksForTheSameBytesAreCancelled() throws {
        var transfer = BackgroundTransfer(launch: "b", limits: Self.limits)
        #expect(transfer.take(.ask) == [.list])
        let (first, second) = (try order(0..<60, id: "a-1"), try order(50..<100, id: "a-2"))
        let foreign = PieceOrder(
            id: "a-3", digest: SHA256Digest(hashing: [1]), size: 10, range: 0..<10, address: first.address)
        let effects = transfer.take(.compare([first, second, foreign], disk: [Self.digest: RangeSet(90..<100)]))
        #expect(effects.prefix(2) == [.cancel(second), .cancel(foreign)])
        #expect(transfer.ordered(Self.digest) == RangeSet(0..<90))
        let begun = effects.dropFirst(2).compactMap { if case .begin(let order, nil) = $0 { order.range } else { nil } }
        #expect(begun == [60..<70, 70..<80, 80..<90])
    }

    @Test func progressCountsBytesOnDiskAndAtTheSystem() throws {
        var transfer = BackgroundTransfer(launch: "b", limits: Self.limits)
        _ = transfer.take(.ask)
        let order = try order(0..<60)
        _ = transfer.take(.compare([order], disk: [Self.digest: RangeSet(60..<100)]))
        #expect(transfer.completedBytes(of: Self.digest) == 40)
        _ = transfer.take(.report(.progress(order, 25)))
        #expect(transfer.completedBytes(of: Self.digest) == 65)
        _ = transfer.take(.report(.progress(order, 1_000)))
        #expect(transfer.completedBytes(of: Self.digest) == 100)
        #expect(transfer.completedBytes(of: SHA256Digest(hashing: [1])) == nil)
    }

    /// A task that is interrupted without end is given up, and its bytes are left to the app.
    @Test func attemptsEnd() throws {
        var transfer = BackgroundTransfer(launch: "b", limits: PieceLimits(length: 100, count: 4))
        _ = transfer.take(.ask)
        var order = try order(0..<100)
        _ = transfer.take(.compare([order], disk: [Self.digest: RangeSet()]))
        var count = 0
        while case .begin(let next, nil)? = transfer.take(.report(.failed(order, .wrongBytes))).first {
            order = next
            count += 1
        }
        // The first order says that two attempts have failed.
        #expect(count == 1)
        #expect(transfer.files.isEmpty)
    }
}
