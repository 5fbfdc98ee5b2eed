import Foundation
import Hearth
import HearthBase
import HearthDelivery
import HearthHTTP

extension Option where Value == MeteredUse? {
    /// `--metered allow|ask|deny`, for every command that fetches models.
    static let metered = Option(
        "metered", "allow|ask|deny", .choice,
        default: "network.metered, else ask at a terminal, else deny",
        "On a network whose bytes cost money: fetch, ask first, or refuse.")
}

extension MeteredUse {
    /// The question asked by `ask`.
    /// - Parameter what: what would be fetched.
    static func question(_ what: String) -> String { "This network is metered. Fetch \(what) now?" }
}

extension CommandContext {
    /// The use of metered networks: the command line's value, else the setting, else `ask` if a user can answer.
    /// - Parameter canAsk: whether a user can see and answer a question; by default ``hasPerson``.
    /// - Throws: `ConfigurationError`, `FileError`
    func meteredUse(_ named: MeteredUse?, canAsk: Bool? = nil) async throws -> MeteredUse {
        if let named { return named }
        let configuration = try await configuration
        try configuration.require(.network)
        if let configured = configuration.meteredUse { return configured }
        return canAsk ?? hasPerson ? .ask : .deny
    }

    /// Fetches. If the network is metered and `options` say so, asks first and fetches after a yes.
    /// - Parameters:
    ///   - what: what would be fetched, as the end of "Fetch … now?".
    ///   - options: options of the fetch; `metered` decides whether to ask.
    /// - Throws: errors of the fetch, `metered-network` after a no.
    func fetching<Outcome>(
        _ what: String, _ options: PullOptions, _ fetch: (PullOptions) async throws -> Outcome
    ) async throws -> Outcome {
        do {
            return try await fetch(options)
        } catch let error as any HearthFailure
            where error.codeText == ErrorCode<MeteredUse>.meteredNetwork.rawValue && options.metered == .ask
        {
            guard hasPerson, try await confirms(MeteredUse.question(what)) else { throw error }
            var options = options
            options.metered = .allow
            return try await fetch(options)
        }
    }

    /// Whether a user can see and answer a question.
    var hasPerson: Bool { input.isTerminal && console.errors.isTerminal }

    /// Asks the user; every answer but yes means no.
    /// - Throws: `CancellationError` if the command is interrupted.
    func confirms(_ question: String) async throws -> Bool {
        console.prompt("\(TerminalText.singleLine(question)) [y/N] ")
        for await line in input.lines() {
            try Task.checkCancellation()
            return ["y", "yes"].contains(line.trimmingCharacters(in: .whitespaces).lowercased())
        }
        // At the end of the input, the cursor is still on the question's line.
        console.prompt("\n")
        try Task.checkCancellation()
        return false
    }
}
