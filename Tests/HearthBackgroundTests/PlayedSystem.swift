import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import HearthTransfer

@testable import HearthBackground

/// A disk, a service of the system and an app in memory, of which each step is chosen at random.
struct PlayedSystem {
    /// A report on its way to the app.
    enum Mail: Equatable {
        case landed(PieceOrder), failed(PieceOrder, PieceFailure), tasks([PieceOrder])

        /// The place of this order's report in the service.
        var order: PieceOrder? {
            switch self {
            case .landed(let order), .failed(let order, _): order
            case .tasks: nil
            }
        }
    }

    static let address = URL(address: "https://models.example.org/weights.gguf")
    let sizes: [SHA256Digest: UInt64]
    let digests: [SHA256Digest]
    /// Whether replies to the question for tasks may be older than reports that come after them.
    let repliesEarly: Bool
    var random: SeededGenerator
    var launches = 0
    var app: BackgroundTransfer?
    /// The bytes on the disk, pieces included; a cancelled file has no entry.
    var disk: [SHA256Digest: RangeSet<UInt64>] = [:]
    /// The tasks of the service that run.
    var running: [PieceOrder] = []
    /// The reports that the app has not taken; they outlive it.
    var mail: [Mail] = []
    var begun: [PieceOrder] = []
    /// The orders that the service has lost.
    private var lost: Set<String> = []
    /// The orders whose files came before a cancellation.
    private var void: Set<String> = []
    /// Resume data, and those of cancelled files.
    private var lastData: UInt8 = 0
    private var dataOfFiles: [(digest: SHA256Digest, data: Data)] = []
    var faults: [String] = []

    init(seed: UInt64, repliesEarly: Bool = false) {
        random = SeededGenerator(seed: seed)
        self.repliesEarly = repliesEarly
        let names = (0..<3).map { SHA256Digest(hashing: Array("file \($0) of \(seed)".utf8)) }
        digests = names
        var sizes: [SHA256Digest: UInt64] = [:]
        for name in names { sizes[name] = UInt64.random(in: 1...400, using: &random) }
        self.sizes = sizes
    }

    // MARK: - The app

    mutating func launch() {
        launches += 1
        app = BackgroundTransfer(launch: "launch\(launches)", limits: PieceLimits(length: 40, count: 5))
        // A question of an earlier launch is not answered.
        mail.removeAll { $0.order == nil }
        take(.ask)
    }

    /// The process ends; the delegate may have moved files before whose reports were never decided about.
    mutating func kill() {
        app = nil
        for case .landed(let order) in mail where Bool.random(using: &random) { land(order) }
        mail.removeAll { $0.order == nil }
    }

    mutating func offer(_ digest: SHA256Digest) {
        guard app != nil, let size = sizes[digest], let address = Self.address else { return }
        let held = disk[digest] ?? RangeSet()
        disk[digest] = held
        take(.offer(digest, BackgroundTransfer.File(size: size, address: address, held: held)))
    }

    mutating func take(_ event: BackgroundTransfer.Event) {
        guard var state = app else { return }
        var effects = state.take(event)[...]
        app = state
        while let effect = effects.popFirst() {
            switch effect {
            case .begin(let order, let data): begin(order, data)
            case .cancel(let order):
                void.insert(order.id)
                running.removeAll { $0.id == order.id }
            case .list:
                let reply = Mail.tasks(running + (repliesEarly ? [] : mail.compactMap(\.order)))
                if repliesEarly { mail.insert(reply, at: 0) } else { mail.append(reply) }
            case .takeIn(let digest, _):
                guard var state = app else { return }
                effects += state.take(.found(digest, disk[digest]))
                app = state
            case .release: break
            }
        }
        check()
    }

    private mutating func begin(_ order: PieceOrder, _ data: Data?) {
        if !repliesEarly {
            let others = (running + mail.compactMap { if case .landed(let order) = $0 { order } else { nil } })
                .filter { $0.digest == order.digest && $0.range.overlaps(order.range) }
            // Bytes whose file the app holds already come a second time without being ordered again.
            for other in others where !void.contains(other.id) && !(disk[order.digest]?.holds(other.range) ?? false) {
                faults.append("\(order.range) is ordered while \(other.range) comes")
            }
        }
        if let held = disk[order.digest], held.holds(order.range) { faults.append("\(order.range) is here") }
        if disk[order.digest] == nil { faults.append("a cancelled file is ordered") }
        if let data {
            // With 256 of them, an old one may look like a new one; that hides a fault, and makes none.
            let owner = dataOfFiles.last { $0.data == data }
            if owner?.digest != order.digest { faults.append("resume data of a cancelled file are used") }
        }
        if begun.contains(where: { $0.id == order.id }) { faults.append("\(order.id) is used twice") }
        begun.append(order)
        running.append(order)
    }

    /// What holds after every decision: each byte is here, ordered once, or left to the app.
    private mutating func check() {
        guard let app, app.isSettled, !app.isAsking else { return }
        let known = Set(running.map(\.id) + mail.compactMap(\.order).map(\.id)).union(lost)
        if !repliesEarly, !known.isSuperset(of: app.alive.keys) { faults.append("an ended order counts") }
        for (digest, file) in app.files {
            let orders = app.alive.values.filter { $0.digest == digest }
            let ordered = app.ordered(digest)
            if orders.reduce(0, { $0 + UInt64($1.range.count) }) != ordered.byteCount {
                faults.append("two orders share bytes")
            }
            if orders.count > 5 { faults.append("\(orders.count) orders for a file") }
            let rest = RangeSet(0..<file.size).subtracting(file.held).subtracting(ordered).subtracting(file.left)
            if !rest.isEmpty, orders.count < 5 { faults.append("\(rest) is missing and not ordered") }
        }
    }

    // MARK: - The service

    mutating func land(_ order: PieceOrder) {
        disk[order.digest]?.insert(contentsOf: order.range)
    }

    /// Delivers one report, any of those before the next reply.
    mutating func deliver() {
        guard app != nil, !mail.isEmpty else { return }
        let before = repliesEarly ? 1 : max(1, mail.firstIndex { $0.order == nil } ?? mail.count)
        let item = mail.remove(at: Int.random(in: 0..<before, using: &random))
        handle(item)
        // A service that calls twice.
        if item.order != nil, Int.random(in: 0..<5, using: &random) == 0 { handle(item) }
    }

    private mutating func handle(_ item: Mail) {
        switch item {
        case .landed(let order):
            guard disk[order.digest] != nil else { return take(.report(.failed(order, .cannotKeep))) }
            land(order)
            if Int.random(in: 0..<25, using: &random) == 0 {
                // The piece is gone before it is taken into its file.
                disk[order.digest]?.remove(contentsOf: order.range)
            }
            take(.report(.landed(order, order.range)))
        case .failed(let order, let failure): take(.report(.failed(order, failure)))
        case .tasks(let orders): take(.compare(orders, disk: disk))
        }
    }

    /// A running task ends in some way.
    mutating func endTask(wellOnly: Bool = false) {
        guard !running.isEmpty else { return }
        let order = running.remove(at: Int.random(in: 0..<running.count, using: &random))
        switch wellOnly ? 0 : Int.random(in: 0..<12, using: &random) {
        case 6: mail.append(.failed(order, .interrupted(resumeData: nil)))
        case 7, 8:
            lastData &+= 1
            let data = Data([lastData])
            dataOfFiles.append((order.digest, data))
            mail.append(.failed(order, .interrupted(resumeData: data)))
        case 9: mail.append(.failed(order, .cannotResume))
        case 10:
            mail.append(
                .failed(
                    order,
                    [.wrongBytes, .cannotKeep, .refused(status: 404)].randomElement(using: &random) ?? .wrongBytes))
        case 11: lost.insert(order.id)
        default: mail.append(.landed(order))
        }
    }

    // MARK: - A run

    mutating func step() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0...5: endTask()
        case 6...12: deliver()
        case 13: take(.ask)
        case 14: if app == nil { launch() } else { kill() }
        case 15: if let digest = digests.randomElement(using: &random), Bool.random(using: &random) { discard(digest) }
        case 16: take(.unreadable(Bool.random(using: &random), of: &mail))
        default: if let digest = digests.randomElement(using: &random) { offer(digest) }
        }
        if app == nil, Int.random(in: 0..<3, using: &random) == 0 { launch() }
    }

    private mutating func discard(_ digest: SHA256Digest) {
        guard app != nil else { return }
        disk[digest] = nil
        take(.discard(digest))
        // A file that has come and is not taken yet is void; a person may begin anew.
        void.formUnion(mail.compactMap(\.order).filter { $0.digest == digest }.map(\.id))
        // Data on their way belong to tasks that the app may not have known.
        let coming = mail.compactMap { if case .failed(_, .interrupted(let data?)) = $0 { data } else { nil } }
        dataOfFiles.removeAll { $0.digest == digest && !coming.contains($0.data) }
    }

    /// Whether every file is whole, and the app knows.
    private var isDone: Bool {
        disk.allSatisfy { $0.value.byteCount == sizes[$0.key] } && app?.files.isEmpty == true
    }

    /// Lets everything end well, as an app in front would: what the system does not have is offered again.
    mutating func settle() {
        if app == nil { launch() }
        for _ in 0..<40 where !isDone {
            take(.ask)
            while !running.isEmpty || !mail.isEmpty {
                endTask(wellOnly: true)
                deliver()
            }
            for digest in disk.keys.sorted(by: { $0.hex < $1.hex }) { offer(digest) }
        }
    }
}

extension BackgroundTransfer.Event {
    /// A reply that cannot be compared, in place of one that waits; otherwise a question.
    fileprivate static func unreadable(_ isReady: Bool, of mail: inout [PlayedSystem.Mail]) -> Self {
        guard isReady, mail.first?.order == nil, !mail.isEmpty else { return .ask }
        mail.removeFirst()
        return .unreadable
    }
}
