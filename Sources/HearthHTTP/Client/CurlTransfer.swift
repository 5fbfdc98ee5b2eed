#if canImport(CCurl)
import CCurl
import Foundation
import HearthBase

/// One easy handle and the state of its callbacks. Used only on the curl thread.
final class CurlTransfer {
    let exchange: Exchange
    let handle: UnsafeMutableRawPointer
    private(set) var progress = ExchangeProgress()
    /// Why a callback stopped the transfer; more specific than libcurl's code.
    private(set) var refusal: HTTPError?
    private(set) var isPaused = false
    /// Whether data arrived that the consumer has not received.
    private(set) var hasNews = false

    private var headParser = ResponseHeadParser()
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var addressList: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>
    private let started: ContinuousClock.Instant
    private var lastActivity: ContinuousClock.Instant
    private var uploadedBytes: curl_off_t = 0
    private unowned let turn: CurlTurn

    /// Creates the handle; `nil` if libcurl has no memory for it.
    init?(_ exchange: Exchange, configuration: CurlConfiguration, turn: CurlTurn) {
        guard let handle = curl_easy_init() else { return nil }
        self.exchange = exchange
        self.handle = handle
        self.turn = turn
        started = turn.now
        lastActivity = turn.now
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        prepare(configuration)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headerList)
        curl_slist_free_all(addressList)
        errorText.deallocate()
    }

    // MARK: Set-up

    private func prepare(_ configuration: CurlConfiguration) {
        let hop = exchange.hop
        setPointer(CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
        setPointer(CURLOPT_ERRORBUFFER, errorText)
        set(CURLOPT_URL, hop.address.text)
        // This package decides on addresses, redirects and protocols; libcurl only carries them out.
        _ = hearth_curl_allow_only_http(handle)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_NOSIGNAL, 1)
        hearth_curl_do_not_wait_for_resolver(handle)
        set(CURLOPT_BUFFERSIZE, hop.pieceSize)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 30)
        set(CURLOPT_TCP_KEEPINTVL, 10)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_USERAGENT, configuration.userAgent)
        if let authorities = configuration.certificateAuthorities { set(CURLOPT_CAINFO, authorities.string) }
        // An empty name overrides the environment: this machine is never reached through a proxy.
        // A proxy would resolve the name again.
        if hop.isDirect { set(CURLOPT_PROXY, "") }
        pin(hop)
        set(CURLOPT_CONNECTTIMEOUT_MS, hop.connectTimeout.milliseconds)
        if let total = hop.totalTimeout { set(CURLOPT_TIMEOUT_MS, total.milliseconds) }
        setMethod(hop)
        setHeaders(hop)
        installCallbacks()
    }

    /// Lets the host's name stand for the addresses that the caller has checked.
    private func pin(_ hop: Hop) {
        guard !hop.pinnedAddresses.isEmpty else { return }
        let addresses = hop.pinnedAddresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
        let host = hop.address.host.contains(":") ? "[\(hop.address.host)]" : hop.address.host
        addressList = curl_slist_append(nil, "\(host):\(hop.address.port):\(addresses)")
        _ = hearth_curl_set_list(handle, CURLOPT_RESOLVE, addressList)
        // A connection to an address of an earlier check is not used again.
        set(CURLOPT_FRESH_CONNECT, 1)
        set(CURLOPT_FORBID_REUSE, 1)
    }

    private func setMethod(_ hop: Hop) {
        switch (hop.method, hop.body) {
        case ("HEAD", _): set(CURLOPT_NOBODY, 1)
        case ("GET", nil): set(CURLOPT_HTTPGET, 1)
        case (let method, let body):
            if let body {
                set(CURLOPT_POST, 1)
                _ = hearth_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
                body.withUnsafeBytes { bytes in
                    let start =
                        UnsafeMutableRawPointer(mutating: bytes.baseAddress) ?? UnsafeMutableRawPointer(errorText)
                    setPointer(CURLOPT_COPYPOSTFIELDS, start)
                }
            } else if method == "POST" || method == "PUT" {
                set(CURLOPT_POST, 1)
                _ = hearth_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, 0)
                set(CURLOPT_COPYPOSTFIELDS, "")
            }
            set(CURLOPT_CUSTOMREQUEST, method)
        }
    }

    private func setHeaders(_ hop: Hop) {
        var headers = hop.headers
        if headers["Accept-Encoding"] == nil { headers["Accept-Encoding"] = "identity" }
        if let authorization = hop.authorization { headers["Authorization"] = authorization }
        var lines = headers.fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        // A line without a value removes libcurl's own header: a form's content type; `Expect`, which delays bodies.
        if headers["Content-Type"] == nil { lines.append("Content-Type:") }
        lines.append("Expect:")
        for line in lines {
            // `nil` means no memory; the list so far stays valid.
            if let list = curl_slist_append(headerList, line) { headerList = list }
        }
        _ = hearth_curl_set_list(handle, CURLOPT_HTTPHEADER, headerList)
    }

    private func installCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        setPointer(CURLOPT_WRITEDATA, context)
        setPointer(CURLOPT_HEADERDATA, context)
        _ = hearth_curl_set_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        _ = hearth_curl_set_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
    }

    private func set(_ option: CURLoption, _ value: Int) { _ = hearth_curl_set_long(handle, option, value) }
    private func set(_ option: CURLoption, _ value: String) { _ = hearth_curl_set_string(handle, option, value) }
    private func setPointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        _ = hearth_curl_set_pointer(handle, option, value)
    }

    // MARK: Callbacks

    private func receiveHeader(_ line: UnsafeRawBufferPointer) -> Int {
        lastActivity = turn.now
        switch headParser.append(line) {
        case .more: return line.count
        case .complete(let head): return accept(head) ? line.count : 0
        case .refused(let why):
            refusal = .badResponse(exchange.hop.address, found: why)
            return 0
        }
    }

    private func accept(_ head: ResponseHead) -> Bool {
        let hasBody = exchange.hop.method != "HEAD" && head.status != 204 && head.status != 304
        progress.hasHead = true
        // The upload before the response is no activity after it.
        uploadedBytes = offset(CURLINFO_SIZE_UPLOAD_T)
        progress.expectedBytes = hasBody ? head.headers["Content-Length"].flatMap { UInt64($0) } : nil
        if let limit = exchange.hop.maximumBodySize, let length = progress.expectedBytes, length > limit {
            refusal = .tooLarge(exchange.hop.address, limit: limit, found: length)
            return false
        }
        exchange.receiveHead(head)
        return true
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        lastActivity = turn.now
        var allowed = bytes
        if let limit = exchange.hop.maximumBodySize, UInt64(bytes.count) > limit - progress.receivedBytes {
            allowed = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(limit - progress.receivedBytes)))
        }
        let expected = progress.expectedBytes.map { $0 >= progress.receivedBytes ? $0 - progress.receivedBytes : 0 }
        markNews()
        if !allowed.isEmpty, !exchange.receive(allowed, expected: expected) {
            // Pause without refusing the bytes, because libcurl would then copy and keep them.
            isPaused = true
            _ = curl_easy_pause(handle, CURLPAUSE_RECV)
        }
        progress.receivedBytes += UInt64(allowed.count)
        guard allowed.count == bytes.count else {
            refusal = .tooLarge(
                exchange.hop.address, limit: exchange.hop.maximumBodySize ?? 0, found: progress.expectedBytes)
            return 0
        }
        return bytes.count
    }

    private func markNews() {
        guard !hasNews else { return }
        hasNews = true
        turn.add(self)
    }

    // MARK: Called by the loop

    /// Gives a waiting consumer its data.
    func deliver() {
        hasNews = false
        exchange.flush()
    }

    /// Continues after a pause. May call back at once with the bytes that libcurl kept.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        lastActivity = turn.now
        _ = curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    /// When the idle time-out ends; `nil` while the transfer waits for the consumer.
    var idleDeadline: ContinuousClock.Instant? {
        isPaused ? nil : lastActivity.advanced(by: exchange.hop.idleTimeout)
    }

    /// Whether the server was silent for too long. Connecting has its own limit, and an upload in progress counts as
    /// activity.
    func isIdle(at now: ContinuousClock.Instant) -> Bool {
        guard let deadline = idleDeadline, deadline <= now else { return false }
        let (connected, uploaded) = (connectedAfter, offset(CURLINFO_SIZE_UPLOAD_T))
        if connected == nil || uploaded > uploadedBytes {
            lastActivity = now
            uploadedBytes = uploaded
            return false
        }
        if let connected { lastActivity = max(lastActivity, started.advanced(by: connected)) }
        return lastActivity.advanced(by: exchange.hop.idleTimeout) <= now
    }

    /// The time until the first byte of the request could be sent.
    private var connectedAfter: Duration? {
        let time = offset(CURLINFO_PRETRANSFER_TIME_T)
        return time > 0 ? .microseconds(time) : nil
    }

    private func offset(_ info: CURLINFO) -> curl_off_t {
        var value: curl_off_t = 0
        _ = hearth_curl_get_offset(handle, info, &value)
        return value
    }

    /// The outcome for the consumer, from libcurl's result.
    func outcome(of code: CURLcode) -> Result<Void, any Error> {
        if let refusal { return .failure(refusal) }
        if code == CURLE_OK { return .success(()) }
        let hop = exchange.hop
        let address = hop.address
        let isConnected = connectedAfter != nil
        _ = hearth_curl_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &progress.proxyStatus)
        var connections = 0
        _ = hearth_curl_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
        progress.isReused = isConnected && connections == 0
        if code == CURLE_OPERATION_TIMEDOUT {
            let elapsed = started.duration(to: turn.now)
            if let total = hop.totalTimeout, isConnected || elapsed >= total {
                return .failure(HTTPError.timedOut(address, .total, after: total, proxy: isConnected ? nil : proxy))
            }
            return .failure(HTTPError.timedOut(address, .connecting, after: hop.connectTimeout, proxy: proxy))
        }
        let text = errorText.pointee == 0 ? curl_easy_strerror(code) : UnsafePointer(errorText)
        let failure = CurlFailure(code: code, text: text.map { String(cString: $0) } ?? "")
        return .failure(HTTPError(failure, address: address, progress: progress, proxy: proxy))
    }

    /// The proxy that libcurl was to use.
    private var proxy: ProxySetting? {
        guard !exchange.hop.isDirect else { return nil }
        return ProxySetting(for: exchange.hop.address, in: ProcessInfo.processInfo.environment)
    }
}

extension Duration {
    /// Whole milliseconds, at least one: libcurl reads zero as its own default.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return Int(Int32.max) }
        return max(1, min(Int(Int32.max), Int(whole) + Int(attoseconds / 1_000_000_000_000_000)))
    }
}
#endif
