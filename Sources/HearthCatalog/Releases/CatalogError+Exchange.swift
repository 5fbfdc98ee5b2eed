import Foundation
import HearthBase
import HearthHTTP

extension CatalogError {
    /// Turns an unsuccessful status into an error.
    package static func refusal(status: Int, of url: URL) -> CatalogError {
        let isPassing = status >= 500 || [408, 425, 429].contains(status)
        let (reason, remedy): (String, String) =
            switch status {
            case 401, 403: ("access denied", "Check the address and the right to read it.")
            case 404, 410: ("nothing there", "Check the address; it usually ends in models.json.")
            case 429: ("too many requests", "Try again later.")
            case 500...: ("the server has a problem", "Try again later.")
            default: ("an unexpected answer", isPassing ? "Try again later." : "Check the address.")
            }
        return CatalogError(
            isPassing ? .originUnreachable : .originRefused, "\(url.shown) answered \(status): \(reason)",
            context: ErrorContext(url: url.shown, expected: "200", found: "\(status)", remedy: remedy),
            disposition: isPassing ? .tryLater : .failed)
    }

    /// Turns a failed exchange into an error.
    package static func failure(_ error: HTTPError, of url: URL, within limit: Duration) -> any Error {
        switch error.code {
        case .cannotResolve, .cannotConnect, .timedOut, .connectionLost:
            let isProxy = error.context.field == "proxy"
            let isSilent = error.code == .timedOut && !isProxy
            let reason = isSilent ? "it did not answer within \(limit.components.seconds) s" : error.message
            let cure = isProxy ? error.context.remedy : nil
            return CatalogError(
                .originUnreachable, "\(url.shown) cannot be reached: \(reason)",
                context: ErrorContext(
                    url: url.shown,
                    remedy: (cure ?? "Check the address and the network.") + " Installed models keep working."),
                disposition: .tryLater, underlying: error)
        case .tooLarge: return CatalogError.manifestTooLarge(url: url)
        default: return error
        }
    }
}

extension HTTPResponse {
    /// The bytes of a successful answer that is no web page.
    /// - Parameter name: the kind of document, in messages.
    func document(_ name: String, at url: URL, limit: Int) async throws -> Data {
        guard (200...299).contains(status) else { throw CatalogError.refusal(status: status, of: url) }
        if let coding = headers.contentCoding {
            throw CatalogError(
                .notAManifest, "\(url.shown) came compressed with \(coding), though the \(name) was asked for as it is",
                context: ErrorContext(
                    url: url.shown, expected: "no Content-Encoding", found: coding,
                    remedy: "The publisher must let the server send it without compression."))
        }
        if let length = contentLength, length > UInt64(limit) { throw HTTPError.tooLarge(limit: UInt64(limit)) }
        let data = try await body.collect(upTo: limit)
        guard headers["Content-Type"]?.lowercased().hasPrefix("text/html") != true else {
            throw CatalogError(
                .notAManifest, "\(url.shown) is no \(name): a web page came instead",
                context: ErrorContext(
                    url: url.shown, expected: "application/json", found: "text/html",
                    remedy: "Check the address, and whether this network wants a log-in first."))
        }
        return data
    }
}
