import Foundation
import Hearth
import HearthBase
import HearthDelivery

extension Option where Value == MeteredUse {
    /// `--metered allow|ask|deny`, for every command that fetches models.
    static let metered = Option(
        "metered", "allow|ask|deny", ValueKind<MeteredUse>.choice,
        default: "network.metered, else ask at a terminal, else deny",
        "What to do on a network whose bytes cost money: fetch all the same, ask first, or refuse.")
}

extension MeteredUse {
    /// The question that `ask` means.
    /// - Parameter what: what would come.
    static func question(_ what: String) -> String { "This network is metered. Fetch \(what) now?" }
}

extension CommandContext {
    /// What to do about metered networks: what the command line says, else the settings, else to ask if there is somebody.
    /// - Parameter canAsk: whether somebody sees a question and can answer it, where that does not follow from ``hasPerson``.
    /// - Throws: ``ConfigurationError``, ``FileError``
    func meteredUse(_ named: MeteredUse?, canAsk: Bool? = nil) async throws -> MeteredUse {
        if let named { return named }
        if let configured = try await configuration.meteredUse { return configured }
        return canAsk ?? hasPerson ? .ask : .deny
    }

    /// Fetches; where the network is metered and a question is wanted, asks first, and after a yes fetches all the same.
    /// - Parameters:
    ///   - what: what would come, as the end of "Fetch … now?".
    ///   - options: those of the fetch; its `metered` says whether to ask.
    /// - Throws: what the fetch throws, `metered-network` after a no.
    func fetching<Outcome>(
        _ what: String, _ options: PullOptions, _ fetch: (PullOptions) async throws -> Outcome
    ) async throws -> Outcome {
        do {
            return try await fetch(options)
        } catch let error as DeliveryError where error.code == .meteredNetwork && options.metered == .ask {
            guard hasPerson, try await confirms(MeteredUse.question(what)) else { throw error }
            var options = options
            options.metered = .allow
            return try await fetch(options)
        }
    }

    /// Whether a question is seen and can be answered.
    var hasPerson: Bool { input.isTerminal && console.errors.isTerminal }

    /// Asks the person; anything but a yes is a no.
    /// - Throws: `CancellationError` when the command is interrupted instead.
    func confirms(_ question: String) async throws -> Bool {
        console.prompt("\(TerminalText.singleLine(question)) [y/N] ")
        for await line in input.lines() {
            try Task.checkCancellation()
            return ["y", "yes"].contains(line.trimmingCharacters(in: .whitespaces).lowercased())
        }
        // No answer: the input's end left the cursor behind the question.
        console.prompt("\n")
        try Task.checkCancellation()
        return false
    }
}
