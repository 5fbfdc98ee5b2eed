import Foundation
import HearthBase
import HearthHTTP

extension CatalogError {
    /// The error for a hub that does not answer a request now, with the seconds after which it does.
    static func hubBusy(_ response: HTTPResponse, model: String? = nil, about what: String) -> CatalogError {
        busy(response, "the hub", model: model, about: what)
    }

    /// The error for a server that does not answer a request now, with the seconds after which it does.
    static func busy(
        _ response: HTTPResponse, _ server: String, model: String? = nil, about what: String
    ) -> CatalogError {
        let wait = HubWait.seconds(response.status, response.headers, now: Date())
        let isLimit = response.status == 429
        let message =
            isLimit
            ? "\(server) allows no more requests for now, and answered 429 about \(what)"
            : "\(server) answered \(response.status) about \(what)"
        var context = ErrorContext(
            model: model, url: response.url.shown, found: "\(response.status)",
            remedy: wait.map { "Try again in \(Int($0)) s." } ?? "Try again later.")
        context.retryAfterSeconds = wait
        return CatalogError(.originUnreachable, message, context: context, disposition: .tryLater)
    }
}

/// Reads how long a hub wants to be left alone.
enum HubWait {
    /// The seconds of `Retry-After`, else of `RateLimit: "api";r=0;t=55`: requests that are left, and the time until there
    /// are more. `nil` if neither says.
    static func seconds(_ status: Int, _ headers: HTTPHeaders, now: Date) -> Double? {
        if let pause = RetryAfter.pause(status: status, headers["Retry-After"], now: now) {
            return pause.seconds.rounded(.up)
        }
        guard status == 429, let field = headers["RateLimit"], field.utf8.count <= 256 else { return nil }
        for item in field.split(separator: ";") {
            let pair = item.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard pair.count == 2, pair[0] == "t", pair[1].utf8.count <= 6, let seconds = UInt(pair[1]) else {
                continue
            }
            return seconds == 0 ? nil : min(Double(seconds), RetryAfter.ceiling.seconds)
        }
        return nil
    }
}

extension HubReference {
    /// The error for a hub's unsuccessful answer.
    ///
    /// The Hub gives its reasons in the header `X-Error-Code`. It answers 401 also for repositories that do not exist,
    /// so that the names of private repositories stay secret. Gated repositories have a code of their own.
    func failure(_ response: HTTPResponse, hasToken: Bool) -> CatalogError {
        let (status, headers, url) = (response.status, response.headers, response.url)
        let code = headers["X-Error-Code"] ?? ""
        switch (code, status) {
        case ("GatedRepo", _):
            return error(
                .repositoryGated, "\(path) is gated: its owner decides who may have it", url, status,
                field: "token",
                remedy: hasToken
                    ? "Ask for access on its page, with the account of the token."
                    : "Ask for access on its page, and give a token of that account.")
        case ("RevisionNotFound", _):
            return error(
                .revisionMissing, "\(path) has no revision \((revision ?? "main").quoted)", url,
                status, remedy: "Name a branch, a tag or a whole commit, or none.")
        case ("EntryNotFound", _):
            return error(
                .fileMissing, "\(path) has no such file", url, status,
                remedy: "Name a file of the repository after the colon, or none.")
        case (_, 401) where headers["X-Error-Message"]?.hasPrefix("Invalid credentials") == true:
            return error(
                .originRefused, "the hub does not accept the token", url, status, field: "token",
                remedy: "Make a new token; a public repository needs none.")
        case ("RepoNotFound", _), (_, 401), (_, 404):
            return error(
                .repositoryMissing,
                "the hub has no repository \(path)"
                    + (hasToken ? ", or not for this token" : ", or it is private"), url, status, field: "token",
                remedy: hasToken
                    ? "Check the name, and what the token may read."
                    : "Check the name; a private repository needs a token.")
        case (_, 408), (_, 425), (_, 429), (_, 500...):
            return .hubBusy(response, model: description, about: path)
        default:
            return error(
                .originRefused, "the hub refused \(path) with status \(status)", url, status,
                remedy: "Check the name, the address of the hub, and what the token may read.")
        }
    }

    private func error(
        _ code: ErrorCode<Release>, _ message: String, _ url: URL, _ status: Int, field: String? = nil,
        remedy: String
    ) -> CatalogError {
        CatalogError(
            code, message,
            context: ErrorContext(
                model: description, url: url.shown, field: field, found: "\(status)", remedy: remedy))
    }
}
