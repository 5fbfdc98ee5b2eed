import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport

/// What a row's server does with each request, until it is healed.
final class FaultScript: Sendable {
    private struct State {
        var isHealed = false
        var turn = 0
        var isCut = false
        var uses: [String: Int] = [:]
    }

    private let fault: Fault
    private let content: Content
    private let state = Locked(State())

    init(_ fault: Fault, _ content: Content) {
        self.fault = fault
        self.content = content
    }

    /// Answers everything properly from now on.
    func heal() { state.withLock { $0.isHealed = true } }

    func reply(to request: RecordedRequest) -> Reply {
        let asked = request.asked(of: content.count)
        let (decision, turn, uses) = state.withLock { state in
            let token = request.query("token") ?? ""
            defer { state.uses[token, default: 0] += 1 }
            return (decide(request, asked, &state), state.turn - 1, state.uses[token, default: 0])
        }
        let visit = Visit(request: request, content: content, turn: turn, uses: uses)
        return switch decision {
        case .proper: visit.proper
        case .cut(let offset): visit.cut(at: offset)
        case .spoil: fault.reply(visit)
        }
    }

    private enum Decision { case proper, cut(UInt64), spoil }

    private func decide(_ request: RecordedRequest, _ asked: Range<UInt64>, _ state: inout State) -> Decision {
        if state.isHealed { return .proper }
        switch fault.aim {
        case .every: break
        case .byte(let offset): guard asked.contains(offset) else { return .proper }
        case .afterCut(let offset):
            if !state.isCut {
                state.isCut = asked.contains(offset)
                return state.isCut ? .cut(offset) : .proper
            }
        }
        guard state.turn < fault.times else { return .proper }
        state.turn += 1
        return .spoil
    }
}

/// One request, as a row sees it.
struct Visit: Sendable {
    let request: RecordedRequest
    let content: Content
    /// How many requests the fault has met before.
    let turn: Int
    /// How many requests came with the same `token` before.
    let uses: Int

    /// The bytes asked for.
    var asked: Range<UInt64> { request.asked(of: content.count) }
    /// What a server without fault answers.
    var proper: Reply { FaultServer.answer(request, with: content) }

    /// The proper answer from other bytes, or with another entity tag.
    func answer(with other: Content? = nil, etag: String? = "\"v1\"") -> Reply {
        FaultServer.answer(request, with: other ?? content, etag: etag)
    }

    /// The proper answer of a server that does not know `If-Range`.
    var unconditional: Reply { answer(etag: request.headers["If-Range"] ?? "\"v1\"") }

    /// The proper answer, ended before the byte at `offset` of the file.
    func cut(at offset: UInt64) -> Reply { proper.dropped(after: place(of: offset)) }

    /// The proper answer, silent before the byte at `offset` of the file, for ever.
    func stalled(at offset: UInt64) -> Reply { proper.stalled(after: place(of: offset), at: Gate()) }

    /// Where a byte of the file lies in the answer; its start for one that comes before.
    private func place(of offset: UInt64) -> UInt64 { max(offset, asked.lowerBound) - asked.lowerBound }

    /// The file with one bit turned over.
    func flipped(at offset: Int) -> Content {
        var bytes = content.bytes
        bytes[offset] ^= 1
        return .data(bytes)
    }

    /// A file with wrong bits everywhere.
    var scrambled: Content { .data(Data(content.bytes.map { $0 ^ 0x10 })) }

    /// The whole file, whatever was asked for.
    var whole: Reply { Reply(body: content) }
}
