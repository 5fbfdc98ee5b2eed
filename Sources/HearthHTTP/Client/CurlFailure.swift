#if canImport(CCurl)
import CCurl
import Foundation
import HearthBase

/// The libcurl error underlying an ``HTTPError``.
struct CurlFailure: Error, CustomStringConvertible {
    let code: CURLcode
    let text: String

    var description: String { "curl \(code.rawValue): \(text)" }
}

/// The progress of an exchange when it failed.
struct ExchangeProgress: Sendable, Hashable {
    var hasHead = false
    var receivedBytes: UInt64 = 0
    /// The declared length of the body.
    var expectedBytes: UInt64?
    /// The proxy's status for a CONNECT request; 0 without one.
    var proxyStatus = 0
    /// Whether the connection has served an earlier request.
    var isReused = false
}

extension HearthError where Domain == HTTPErrorDomain {
    /// Translates a libcurl error. The caller handles time-outs.
    /// - Parameter proxy: the proxy through which the server is asked.
    init(_ failure: CurlFailure, address: HTTPAddress, progress: ExchangeProgress, proxy: ProxySetting? = nil) {
        let host = address.hostText
        var context = ErrorContext(url: address.display)
        let code: ErrorCode<HTTPErrorDomain>
        let message: String
        var disposition = ErrorDisposition.failed
        var cause = failure.code
        // Bytes that an earlier answer sent beyond its length are no answer to this request: another connection has none.
        if progress.isReused, !progress.hasHead, [CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY].contains(cause)
        {
            cause = CURLE_RECV_ERROR
        }
        switch cause {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            let isProxy = cause == CURLE_COULDNT_RESOLVE_PROXY
            (code, disposition) = (.cannotResolve, .tryLater)
            message =
                isProxy
                ? "the proxy \(proxy?.place ?? ""), through which \(host) is asked, was not found"
                : "no machine named \(address.host) was found"
            context.remedy = "Check the network and the name."
            if isProxy { proxy.explain(&context) }
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            (code, disposition) = (.cannotConnect, .tryLater)
            guard let proxy else {
                message = "no server answers at \(host)"
                break
            }
            message = "the proxy \(proxy.place), through which \(host) is asked, does not answer"
            proxy.explain(&context)
        case CURLE_URL_MALFORMAT:
            (code, disposition) = (.unsupportedURL, .usage)
            message = "\(address.display) is not an address that can be used"
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_OUT_OF_MEMORY:
            self = .badResponse(address, found: failure.text, underlying: failure)
            return
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CLIENTCERT, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED:
            code = .tlsFailure
            message = "no secure connection to \(host) could be made"
            context.found = failure.text
        case _ where !progress.hasHead && progress.proxyStatus >= 300:
            (code, disposition) = (.cannotConnect, .tryLater)
            message = "the proxy \(proxy?.place ?? "") does not let anything through to \(host)"
            context.found = "status \(progress.proxyStatus)"
            proxy.explain(&context)
        default:
            (code, disposition) = (.connectionLost, .tryLater)
            message = "the connection to \(host) was lost"
            context.expected = progress.expectedBytes.map { "\($0) bytes" }
            context.found = progress.hasHead ? "\(progress.receivedBytes) bytes" : "no answer"
        }
        self.init(code, message, context: context, disposition: disposition, underlying: failure)
    }
}
#endif
