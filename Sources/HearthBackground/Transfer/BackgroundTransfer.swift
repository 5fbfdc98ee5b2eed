import Foundation
import HearthBase
import HearthTransfer

/// Decides which bytes of which files the system is asked for: a value without clocks and disk.
///
/// What is missing of a file is never kept: it is the file without the bytes on the disk, without those of the orders
/// that the system has, and without those that are left to the app.
///
/// ```
///            ask                 tasks
///  settled ───────> asking ───────────────> settled: every missing byte is ordered
/// ```
/// Nothing is ordered while the question for the tasks is open, since a reply may be older than an order.
package struct BackgroundTransfer: Sendable {
    /// A file whose bytes the system brings.
    package struct File: Sendable, Hashable {
        package let size: UInt64
        package let address: URL
        /// The bytes on the disk.
        package var held: RangeSet<UInt64>
        /// Bytes that the system could not bring: the app fetches them when it is in front.
        package var left = RangeSet<UInt64>()

        package init(size: UInt64, address: URL, held: RangeSet<UInt64>) {
            self.size = size
            self.address = address
            self.held = held
        }
    }

    package enum Event: Sendable {
        /// The app leaves a file to the system.
        case offer(SHA256Digest, File)
        /// The system's tasks are to be compared with the disk.
        case ask
        case report(PieceReport)
        /// The system's tasks, with the bytes on the disk of every file that they or ``files`` name; a file without an
        /// entry was removed.
        case compare([PieceOrder], disk: [SHA256Digest: RangeSet<UInt64>])
        /// The disk could not be read for a comparison.
        case unreadable
        /// The bytes of a file on the disk; `nil` if it was removed.
        case found(SHA256Digest, RangeSet<UInt64>?)
        /// A person cancelled the file.
        case discard(SHA256Digest)
    }

    package enum Effect: Sendable, Equatable {
        case begin(PieceOrder, resumeData: Data?)
        case cancel(PieceOrder)
        /// Asks the system for its tasks.
        case list
        /// Pieces of the file wait to be taken into its part file.
        case takeIn(SHA256Digest, size: UInt64)
        /// The system has no order for the file any more: all bytes are here, or the app fetches the others.
        case release(SHA256Digest)
    }

    /// How often a range is ordered anew after wrong bytes, or after an end without resume data.
    package static let attempts = 3
    /// How often a range is continued with resume data.
    package static let continuations = 100

    private let limits: PieceLimits
    private let launch: String
    private var lastOrder = 0
    /// The files that the system has orders for.
    package private(set) var files: [SHA256Digest: File] = [:]
    /// The orders that the system has, by their identifiers.
    package private(set) var alive: [String: PieceOrder] = [:]
    /// The received bytes of orders in ``alive``.
    private var received: [String: UInt64] = [:]
    /// The open questions for the tasks.
    private var questions = 0
    /// Whether ``alive`` was compared with the system's tasks since the last question.
    package private(set) var isSettled = false
    /// The orders that ended since the question: the reply may name them.
    private var ended: Set<String> = []
    /// The ended orders to give once more after the reply.
    private var waiting: [(order: PieceOrder, resumeData: Data?)] = []

    /// Begins without knowledge: the first event is ``Event/ask``.
    /// - Parameter launch: unique among the launches of the app.
    package init(launch: String, limits: PieceLimits = PieceLimits()) {
        self.launch = launch
        self.limits = limits
    }

    /// Whether a question for the tasks is open.
    package var isAsking: Bool { questions > 0 }

    /// Whether orders may be given.
    private var mayOrder: Bool { isSettled && questions == 0 }

    /// Takes an event; the effects are to be done in their order.
    package mutating func take(_ event: Event) -> [Effect] {
        switch event {
        case .offer(let digest, let file):
            if files[digest] == nil { files[digest] = file }
            return fill(digest)
        case .ask:
            questions += 1
            return [.list]
        case .report(let report): return take(report)
        case .unreadable:
            questions = max(0, questions - 1)
            isSettled = false
            return []
        case .compare(let orders, let disk):
            questions = max(0, questions - 1)
            return questions == 0 ? compare(orders, disk) : []
        case .found(let digest, let held?):
            files[digest]?.held = held
            return fill(digest)
        case .found(let digest, nil), .discard(let digest): return remove(digest)
        }
    }

    /// The bytes of a file that are here or have arrived at the system; `nil` for a file that is not left to it.
    package func completedBytes(of digest: SHA256Digest) -> UInt64? {
        files[digest].map { file in
            min(file.size, orders(for: digest).reduce(file.held.byteCount) { $0 + (received[$1.id] ?? 0) })
        }
    }

    private mutating func take(_ report: PieceReport) -> [Effect] {
        switch report {
        case .progress(let order, let count):
            if alive[order.id] != nil { received[order.id] = min(count, UInt64(order.range.count)) }
            return []
        case .landed(let order, let range):
            end(order)
            if files[order.digest] == nil, !mayOrder { adopt(order, held: RangeSet()) }
            files[order.digest]?.held.insert(contentsOf: range)
            return [.takeIn(order.digest, size: order.size)] + cancelNeedless(order.digest) + fill(order.digest)
        case .failed(let order, let failure):
            guard end(order) else { return [] }
            if files[order.digest] == nil { adopt(order, held: RangeSet()) }
            return again(order, after: failure) + fill(order.digest)
        case .tasks, .delivered: return []
        }
    }

    /// Notes the end of an order; `false` if it had ended before.
    @discardableResult
    private mutating func end(_ order: PieceOrder) -> Bool {
        received[order.id] = nil
        let wasAlive = alive.removeValue(forKey: order.id) != nil
        guard !mayOrder else { return wasAlive }
        return ended.insert(order.id).inserted
    }

    private mutating func adopt(_ order: PieceOrder, held: RangeSet<UInt64>) {
        files[order.digest] = File(size: order.size, address: order.address, held: held)
    }

    /// Continues a failed order, or leaves its bytes to the app.
    private mutating func again(_ order: PieceOrder, after failure: PieceFailure) -> [Effect] {
        switch failure {
        case .interrupted(let data?) where order.attempt < Self.continuations: return next(order, data)
        case .interrupted(nil), .cannotResume, .wrongBytes:
            if order.attempt < Self.attempts { return next(order, nil) }
        case .interrupted, .refused, .cannotKeep: break
        }
        files[order.digest]?.left.insert(contentsOf: order.range)
        return []
    }

    /// Orders the bytes of an ended order once more: at once, or after the reply to an open question.
    private mutating func next(_ order: PieceOrder, _ resumeData: Data?) -> [Effect] {
        guard mayOrder else {
            waiting.append((order, resumeData))
            return []
        }
        return begin(order.range, of: order.digest, attempt: order.attempt + 1, resumeData: resumeData)
    }

    private mutating func begin(
        _ range: Range<UInt64>, of digest: SHA256Digest, attempt: Int = 0, resumeData: Data? = nil
    ) -> [Effect] {
        guard let file = files[digest] else { return [] }
        lastOrder += 1
        let order = PieceOrder(
            id: "\(launch)-\(lastOrder)", digest: digest, size: file.size, range: range, attempt: attempt,
            address: file.address)
        alive[order.id] = order
        return [.begin(order, resumeData: resumeData)]
    }

    /// Takes over the system's tasks, gives ended orders once more, and orders what is missing.
    private mutating func compare(_ orders: [PieceOrder], _ disk: [SHA256Digest: RangeSet<UInt64>]) -> [Effect] {
        var effects: [Effect] = []
        let listed = orders.filter { !ended.contains($0.id) }
        ended = []
        alive = [:]
        isSettled = true
        for digest in files.keys {
            if let held = disk[digest] { files[digest]?.held = held } else { effects += remove(digest) }
        }
        for order in listed {
            guard let held = disk[order.digest] else {
                effects.append(.cancel(order))
                continue
            }
            if files[order.digest] == nil { adopt(order, held: held) }
            if held.holds(order.range) || ordered(order.digest).overlaps(order.range) {
                effects.append(.cancel(order))
            } else {
                alive[order.id] = order
                files[order.digest]?.left.remove(contentsOf: order.range)
            }
        }
        received = received.filter { alive[$0.key] != nil }
        for (order, data) in waiting {
            guard let held = files[order.digest]?.held, !held.holds(order.range),
                !ordered(order.digest).overlaps(order.range)
            else { continue }
            effects += begin(order.range, of: order.digest, attempt: order.attempt + 1, resumeData: data)
        }
        waiting = []
        for digest in files.keys.sorted(by: { $0.hex < $1.hex }) { effects += fill(digest) }
        return effects
    }

    /// Orders what is missing of a file, and releases a file without orders.
    private mutating func fill(_ digest: SHA256Digest) -> [Effect] {
        guard mayOrder, let file = files[digest] else { return [] }
        let ordered = ordered(digest)
        let missing = RangeSet(0..<file.size).subtracting(file.held).subtracting(ordered).subtracting(file.left)
        let count = limits.count - orders(for: digest).count
        let begun = limits.cut(missing, held: file.held, count: count).flatMap { begin($0, of: digest) }
        guard begun.isEmpty, ordered.isEmpty else { return begun }
        files[digest] = nil
        return [.release(digest)]
    }

    /// Cancels the orders for bytes that have arrived otherwise.
    private mutating func cancelNeedless(_ digest: SHA256Digest) -> [Effect] {
        guard let held = files[digest]?.held else { return [] }
        let needless = orders(for: digest).filter { held.holds($0.range) }
        for order in needless { end(order) }
        return needless.map { .cancel($0) }
    }

    private mutating func remove(_ digest: SHA256Digest) -> [Effect] {
        let cancelled = orders(for: digest)
        for order in cancelled { end(order) }
        waiting.removeAll { $0.order.digest == digest }
        guard files.removeValue(forKey: digest) != nil else { return cancelled.map { .cancel($0) } }
        return cancelled.map { .cancel($0) } + [.release(digest)]
    }

    private func orders(for digest: SHA256Digest) -> [PieceOrder] {
        alive.values.filter { $0.digest == digest }.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// The bytes that the system has orders for.
    package func ordered(_ digest: SHA256Digest) -> RangeSet<UInt64> { RangeSet(orders(for: digest).map(\.range)) }
}

extension RangeSet<UInt64> {
    fileprivate func overlaps(_ range: Range<UInt64>) -> Bool { !intersection(RangeSet(range)).isEmpty }
}
