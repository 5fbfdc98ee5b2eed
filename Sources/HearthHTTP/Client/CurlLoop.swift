#if canImport(CCurl)
import CCurl
import Foundation
import HearthBase

/// The libcurl settings that all requests of a client share.
struct CurlConfiguration: Sendable {
    var userAgent: String
    var certificateAuthorities: Path?
}

/// State shared by the transfers; used only on the curl thread.
final class CurlTurn {
    /// The start of this turn of the loop; callbacks use it instead of reading the clock for each piece of a body.
    var now = ContinuousClock.now
    /// The transfers with data for their consumers, and the time of the first.
    private var news: [CurlTransfer] = []
    private(set) var firstNews = ContinuousClock.now

    var hasNews: Bool { !news.isEmpty }

    func add(_ transfer: CurlTransfer) {
        if news.isEmpty { firstNews = now }
        news.append(transfer)
    }

    /// Delivers the data of all transfers.
    func deliver() {
        for transfer in news { transfer.deliver() }
        news.removeAll(keepingCapacity: true)
    }
}

/// The only thread that calls libcurl: it handles messages, runs libcurl, and delivers received bytes.
final class CurlLoop: @unchecked Sendable {
    enum Message: Sendable {
        case start(Exchange)
        case cancel(UInt64)
        case resume(UInt64)
    }

    private struct Mailbox {
        var messages: [Message] = []
        var isClosed = false
        /// Whether the thread has ended and freed `multi`.
        var isDead = false
    }

    private let mailbox = Locked(Mailbox())
    private let configuration: CurlConfiguration
    // Used only on the loop's thread, except that any thread may call `curl_multi_wakeup` while the handle lives: the
    // mailbox's lock and `Mailbox.isDead` ensure that.
    private let multi: UnsafeMutableRawPointer?

    private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    init(configuration: CurlConfiguration) {
        self.configuration = configuration
        multi = Self.isInitialised ? curl_multi_init() : nil
    }

    /// Starts the thread, which runs until ``close()``.
    func start() {
        let thread = Thread { [self] in
            ThreadName.current = "hearth.http"
            run()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Sends the thread a message; `false` if it has ended.
    @discardableResult
    func post(_ message: Message) -> Bool {
        mailbox.withLock { mailbox in
            guard !mailbox.isDead, !mailbox.isClosed else { return false }
            mailbox.messages.append(message)
            if mailbox.messages.count == 1 { _ = curl_multi_wakeup(multi) }
            return true
        }
    }

    /// Ends the thread and cancels all transfers.
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

    /// Whether more bytes are ready and can be delivered together with the present ones, which saves a thread switch
    /// for each small piece. A full buffer is delivered at once. No consumer waits more than four milliseconds for
    /// this.
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
            let hop = transfer.exchange.hop
            transfer.exchange.finish(
                .failure(HTTPError.timedOut(hop.address, .idle, after: hop.idleTimeout)))
            _ = curl_multi_remove_handle(multi, transfer.handle)
            transfers[id] = nil
        }
    }

    /// The milliseconds until the next idle time-out; libcurl handles its own timers.
    private func waitingTime(_ transfers: [UInt64: CurlTransfer], _ turn: CurlTurn) -> Int32 {
        guard let deadline = transfers.values.compactMap(\.idleDeadline).min() else { return 600_000 }
        return Int32(clamping: turn.now.duration(to: deadline).milliseconds)
    }
}
#endif
