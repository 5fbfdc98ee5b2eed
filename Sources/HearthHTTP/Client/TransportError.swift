import Foundation
import HearthBase

extension HearthError where Domain == HTTPErrorDomain {
    static func noHead(_ address: HTTPAddress) -> Self {
        Self(
            .connectionLost, "\(address.hostText) closed the connection without an answer",
            context: ErrorContext(url: address.display), disposition: .tryLater)
    }

    /// The time limits that a server can exceed.
    enum Silence { case connecting, idle, total }

    /// - Parameter proxy: the proxy through which no connection could be made.
    static func timedOut(
        _ address: HTTPAddress, _ silence: Silence, after limit: Duration, proxy: ProxySetting? = nil
    ) -> Self {
        let seconds = limit.seconds.formatted(
            .number.precision(.fractionLength(0...1)).locale(Locale(identifier: "en")))
        let message =
            switch silence {
            case .connecting: "\(address.hostText) could not be reached within \(seconds) s"
            case .idle: "\(address.hostText) sent nothing for \(seconds) s"
            case .total: "\(address.hostText) did not finish within \(seconds) s"
            }
        var context = ErrorContext(url: address.display)
        guard let proxy else {
            return Self(.timedOut, message, context: context, disposition: .tryLater)
        }
        proxy.explain(&context)
        return Self(
            .timedOut, "\(message) through the proxy \(proxy.place)", context: context, disposition: .tryLater)
    }

    static func tooLarge(_ address: HTTPAddress, limit: UInt64, found: UInt64?) -> Self {
        Self(
            .tooLarge, "the answer of \(address.hostText) is larger than it may be",
            context: ErrorContext(
                url: address.display, expected: "at most \(limit) bytes",
                found: found.map { "\($0) bytes" } ?? "more"))
    }

    static func badResponse(_ address: HTTPAddress, found: String, underlying: (any Error)? = nil) -> Self {
        Self(
            .badResponse, "\(address.hostText) does not answer in proper HTTP",
            context: ErrorContext(url: address.display, expected: "an HTTP response", found: found),
            underlying: underlying)
    }
}

extension ProxySetting? {
    /// Adds the cure to an error, for a proxy whose variable is not known.
    func explain(_ context: inout ErrorContext) {
        guard let self else {
            (context.field, context.remedy) = ("proxy", "Check the proxy settings of the environment.")
            return
        }
        self.explain(&context)
    }
}

extension ProxySetting {
    /// Adds the cure to an error of a proxy that does not work.
    func explain(_ context: inout ErrorContext) {
        context.field = "proxy"
        context.remedy = "Start the proxy, or change or unset \(variable) in the environment."
    }
}
