import Foundation
import HearthBase
import HearthDelivery
import HearthInference
import HearthRouting

/// An interactive conversation: each line gets an answer.
struct Conversation: Sendable {
    let context: CommandContext
    let engine: any InferenceEngine
    let printer: AnswerPrinter
    let options: GenerationOptions

    private struct State {
        var policy = InterruptPolicy()
        var answer: Task<Void, any Error>?
    }

    static let help = """
        /system TEXT  begin anew with this system prompt
        /continue     let a local model continue an answer that broke off
        /reset        forget what was said
        /help         show this list
        /exit         end (Ctrl-D does too)
        Ctrl-C stops an answer; a second one ends the conversation.
        """

    /// Runs the conversation until the user ends it.
    /// - Parameter images: pictures for the first message.
    func run(systemPrompt: String?, images: [ChatImage] = []) async throws {
        let state = Locked(State())
        let interrupted: @Sendable () -> Void = { handleInterrupt(state) }
        try await context.interruptions.handlingInterrupts(with: interrupted) {
            var systemPrompt = systemPrompt
            var session = LanguageModelSession(model: engine, instructions: systemPrompt)
            var images = images
            context.console.say("Say something, or /help.")
            context.console.prompt("> ")
            for await line in context.input.lines() {
                let text = line.trimmingCharacters(in: .whitespacesAndNewlines)
                switch ChatLine(text) {
                case .nothing: break
                case .exit: return
                case .help: context.console.complain(Self.help)
                case .continuation: try await continueLocally(session, state)
                case .reset:
                    session = LanguageModelSession(model: engine, instructions: systemPrompt)
                    context.console.say("Everything said is forgotten.")
                case .system(let prompt):
                    systemPrompt = prompt.isEmpty ? nil : prompt
                    session = LanguageModelSession(model: engine, instructions: systemPrompt)
                    context.console.say("A new conversation begins.")
                case .unknown(let word):
                    context.console.complain("There is no \(word.shownOnTerminal). /help lists what there is.")
                case .message:
                    try await answer(text, images, session, state)
                    images = []
                }
                context.console.prompt("> ")
            }
            try Task.checkCancellation()
            context.console.prompt("\n")
        }
    }

    private func answer(
        _ text: String, _ images: [ChatImage], _ session: LanguageModelSession, _ state: Locked<State>
    ) async throws {
        let task = Task {
            let reason = try await printer.print(
                session.streamResponse(to: text, images: images, options: options).events)
            guard reason == .interrupted else { return }
            context.console.complain(
                "(the connection broke off in the middle of the answer: type /continue for the rest from a local model)"
            )
        }
        state.withLock {
            $0.policy.answerBegins()
            $0.answer = task
        }
        defer {
            state.withLock {
                $0.policy.answerEnds()
                $0.answer = nil
            }
        }
        do {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError {
            try Task.checkCancellation()
            context.console.say("(stopped)")
        } catch let error as LLMError {
            // Continue the conversation after a failed question.
            for line in FailureRenderer(error).lines { context.console.complain(line) }
        }
    }

    /// Lets a local model continue the last answer, whose connection broke off.
    private func continueLocally(_ session: LanguageModelSession, _ state: Locked<State>) async throws {
        // After /reset, the answer belongs to a forgotten conversation.
        guard let routed = engine as? RoutedEngine, routed.interruptedText != nil,
            session.transcript.last?.role == .assistant
        else {
            return context.console.complain("No answer broke off.")
        }
        let request = routed.request
        routed.request.preference = .local
        defer { routed.request = request }
        try await answer(RoutedEngine.continuationPrompt, [], session, state)
    }

    private func handleInterrupt(_ state: Locked<State>) {
        let (action, answer) = state.withLock { ($0.policy.interrupt(), $0.answer) }
        switch action {
        case .stopAnswer: answer?.cancel()
        case .warn: context.console.prompt("\n(Ctrl-C again, Ctrl-D or /exit ends the conversation)\n> ")
        case .end:
            context.console.prompt("\n")
            context.interruptions.deliver(.terminate)
        }
    }
}

/// The meaning of a line typed in a conversation.
enum ChatLine: Sendable, Hashable {
    case nothing
    case message
    case exit
    case help
    case reset
    case continuation
    case system(String)
    case unknown(String)

    init(_ text: String) {
        guard text.hasPrefix("/") else {
            self = text.isEmpty ? .nothing : .message
            return
        }
        let parts = text.split(separator: " ", maxSplits: 1)
        switch parts.first {
        case "/exit", "/quit", "/bye": self = .exit
        case "/help", "/?": self = .help
        case "/reset", "/clear": self = .reset
        case "/continue": self = .continuation
        case "/system": self = .system(parts.count > 1 ? String(parts[1]) : "")
        default: self = .unknown(String(parts.first ?? ""))
        }
    }
}
