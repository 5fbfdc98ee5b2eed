import HearthBase
import HearthInference
import HearthRouting

/// Why an answer ended before its end, and the one step that helps.
package struct AnswerEnding: Sendable, Hashable, Codable {
    /// The step that helps.
    package enum Help: String, Sendable, Hashable, Codable, CaseIterable {
        /// Write on behind the last word.
        case proceed = "continue"
        /// Answer the question again.
        case retry
        case chooseModel = "choose-model"
        case downloadModel = "download-model"
        case freeMemory = "free-memory"
        case openSettings = "open-settings"
    }

    /// A finish reason, or the code of a failure.
    package var code: String
    /// One sentence for people.
    package var message: String
    package var help: Help

    /// The ending of a kept answer that is not being written; `nil` for a complete one.
    package init?(of message: AssistantMessage, texts: AssistantTexts = AssistantTexts()) {
        guard message.role == .assistant else { return nil }
        let hasText = !message.content.isEmpty
        if let failure = message.failure {
            (code, self.message) = (failure.code, failure.message)
            help = Self.help(for: failure.code, hasText: hasText)
            return
        }
        guard let finish = message.facts?.finish else {
            guard message.isOpen == true else { return nil }
            (code, self.message) = ("unfinished", texts.unfinished)
            help = hasText ? .proceed : .retry
            return
        }
        guard !finish.isComplete else { return nil }
        code = finish.rawValue
        self.message = texts.notice(of: finish) ?? texts.unfinished
        help = hasText && ![.repeating, .contentFilter].contains(finish) ? .proceed : .retry
    }

    private static func help(for code: String, hasText: Bool) -> Help {
        switch code {
        case "model-not-chosen": .chooseModel
        case "not-installed", "model-not-loaded", "model-not-found": .downloadModel
        case "context-window-exceeded": .chooseModel
        case "not-enough-memory", "out-of-memory": .freeMemory
        case "unauthorised", "cloud-key-unusable", "no-credits", "not-entitled", "cloud-off", "cloud-missing",
            "remote-model-missing", "rate-limited":
            .openSettings
        default: hasText ? .proceed : .retry
        }
    }
}

extension AssistantMessage {
    /// Whether nothing of the answer came.
    var isEmpty: Bool { content.isEmpty && cards.isEmpty && thinkingContent.isEmpty }

    /// The answer as the model wrote it, up to a block that is not complete.
    var written: String { (rawContent ?? content).withoutOpenBlock }

    /// Whether the answer can be written on: it is not complete.
    var canGoOn: Bool {
        role == .assistant && (failure != nil || isOpen == true || facts.map { !$0.finish.isComplete } ?? false)
    }
}

extension AssistantTexts {
    /// The sentence about an answer that is not complete; `nil` for an end that needs none.
    func notice(of reason: FinishReason) -> String? {
        switch reason {
        case .timedOut: timedOut
        case .maximumNewTokens, .contextFull: cutShort
        case .repeating: repeating
        case .interrupted: interrupted
        case .contentFilter: filtered
        default: nil
        }
    }

    /// The sentences about endings.
    package var endings: Set<String> { [timedOut, cutShort, repeating, interrupted, filtered] }
}
