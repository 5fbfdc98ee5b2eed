import CCurl
import Foundation
import HearthBase

/// How libcurl is set up for every request of a client.
struct CurlConfiguration: Sendable {
    var userAgent: String
    var certificateAuthorities: Path?
}

/// What the transfers share; lives on the curl thread.
final class CurlTurn {
    /// The time this turn of the loop began; callbacks use it instead of asking the system for each piece of a body.
    var now = ContinuousClock.now
    /// The transfers whose consumers have something to hear, and since when.
    private var news: [CurlTransfer] = []
    private(set) var firstNews = ContinuousClock.now

    var hasNews: Bool { !news.isEmpty }

    func add(_ transfer: CurlTransfer) {
        if news.isEmpty { firstNews = now }
        news.append(transfer)
    }

    /// Hands out everything.
    func deliver() {
        for transfer in news { transfer.deliver() }
        news.removeAll(keepingCapacity: true)
    }
}

/// The one thread that touches libcurl: it takes messages, lets libcurl work, and hands out what arrived.
final class CurlLoop: @unchecked Sendable {
    enum Message: Sendable {
        case start(Exchange)
        case cancel(UInt64)
        case resume(UInt64)
    }

    private struct Mailbox {
        var messages: [Message] = []
        var isClosed = false
        /// Whether the thread has ended and `multi` is gone.
        var isDead = false
    }

    private let mailbox = Locked(Mailbox())
    private let configuration: CurlConfiguration
    // Touched on the loop's own thread only, except for `curl_multi_wakeup`, which may be called anywhere as long as the
    // handle lives: `Mailbox.isDead` says so, under the mailbox's lock.
    private let multi: UnsafeMutableRawPointer?

    private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    init(configuration: CurlConfiguration) {
        self.configuration = configuration
        multi = Self.isInitialised ? curl_multi_init() : nil
    }

    /// Starts the thread; it ends after ``close()``.
    func start() {
        let thread = Thread { [self] in
            ThreadName.current = "hearth.http"
            run()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Gives the thread something to do; `false` when it has ended.
    @discardableResult
    func post(_ message: Message) -> Bool {
        mailbox.withLock { mailbox in
            guard !mailbox.isDead, !mailbox.isClosed else { return false }
            mailbox.messages.append(message)
            if mailbox.messages.count == 1 { _ = curl_multi_wakeup(multi) }
            return true
        }
    }

    /// Ends the thread; what is under way is cancelled.
    func close() {
        mailbox.withLock { mailbox in
            guard !mailbox.isDead else { return }
            mailbox.isClosed = true
            _ = curl_multi_wakeup(multi)
        }
    }

    // MARK: On the thread

    private func run() {
        let turn = CurlTurn()
        var transfers: [UInt64: CurlTransfer] = [:]
        while true {
            let (messages, isClosed) = mailbox.withLock { mailbox in
                defer { mailbox.messages.removeAll(keepingCapacity: true) }
                return (mailbox.messages, mailbox.isClosed)
            }
            turn.now = .now
            for message in messages { handle(message, &transfers, turn) }
            if isClosed { break }
            var running: Int32 = 0
            _ = curl_multi_perform(multi, &running)
            collectFinished(&transfers)
            dropIdle(&transfers, turn)
            if turn.hasNews {
                if !hasMoreNow(turn) { turn.deliver() }
            } else {
                _ = curl_multi_poll(multi, nil, 0, waitingTime(transfers, turn), nil)
            }
        }
        for transfer in transfers.values {
            _ = curl_multi_remove_handle(multi, transfer.handle)
            transfer.exchange.finish(.failure(CancellationError()))
        }
        transfers = [:]
        mailbox.withLock { mailbox in
            mailbox.isDead = true
            _ = curl_multi_cleanup(multi)
        }
    }

    private func handle(_ message: Message, _ transfers: inout [UInt64: CurlTransfer], _ turn: CurlTurn) {
        switch message {
        case .start(let exchange):
            guard !exchange.isCancelled else { return }
            guard let multi, let transfer = CurlTransfer(exchange, configuration: configuration, turn: turn) else {
                let failure = CurlFailure(code: CURLE_OUT_OF_MEMORY, text: "libcurl could not be started")
                return exchange.finish(.failure(failure))
            }
            transfers[exchange.id] = transfer
            _ = curl_multi_add_handle(multi, transfer.handle)
        case .cancel(let id):
            guard let transfer = transfers.removeValue(forKey: id) else { return }
            _ = curl_multi_remove_handle(multi, transfer.handle)
        case .resume(let id):
            transfers[id]?.resume()
        }
    }

    /// Whether more bytes are there already, so that they can be handed out together; small pieces cost a thread switch
    /// each, and as many as may wait are handed out by themselves. Nobody waits longer than four milliseconds for that, whatever
    /// else is going on.
    private func hasMoreNow(_ turn: CurlTurn) -> Bool {
        guard turn.firstNews.duration(to: turn.now) < .milliseconds(4) else { return false }
        var ready: Int32 = 0
        _ = curl_multi_poll(multi, nil, 0, 0, &ready)
        var milliseconds = -1
        _ = curl_multi_timeout(multi, &milliseconds)
        return ready > 0 || milliseconds == 0
    }

    private func collectFinished(_ transfers: inout [UInt64: CurlTransfer]) {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            let code = message.pointee.data.result
            var pointer: UnsafeMutableRawPointer?
            _ = hearth_curl_get_pointer(handle, CURLINFO_PRIVATE, &pointer)
            guard let pointer else { continue }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
            transfer.exchange.finish(transfer.outcome(of: code))
            _ = curl_multi_remove_handle(multi, handle)
            transfers[transfer.exchange.id] = nil
        }
    }

    private func dropIdle(_ transfers: inout [UInt64: CurlTransfer], _ turn: CurlTurn) {
        turn.now = .now
        for (id, transfer) in transfers where transfer.isIdle(at: turn.now) {
            let plan = transfer.exchange.plan
            transfer.exchange.finish(
                .failure(HTTPError.timedOut(plan.hop.address, .idle, after: plan.idleTimeout)))
            _ = curl_multi_remove_handle(multi, transfer.handle)
            transfers[id] = nil
        }
    }

    /// The milliseconds until somebody may have been silent for too long; libcurl knows its own timers.
    private func waitingTime(_ transfers: [UInt64: CurlTransfer], _ turn: CurlTurn) -> Int32 {
        guard let deadline = transfers.values.compactMap(\.idleDeadline).min() else { return 600_000 }
        return Int32(clamping: turn.now.duration(to: deadline).milliseconds)
    }
}
