import HearthBase
import HearthInference

/// What a worker does: the codes of `engine-died`.
enum EngineWork: String, Sendable { case load, template, tokenize, decode }

/// The end of a worker's process, as its callers learn it.
struct EngineDeath: Sendable {
    /// Why a worker ended, in words; each case has a code of its own.
    enum Cause: Sendable {
        case crashed(String)
        case memory
        case time(String)
        /// Another process ended it, or this one at its own end.
        case killed

        /// The cause of an end that was not asked for.
        init(_ ending: WorkerEnding) {
            // Allocations within a limit fail in the process itself, which says so at its end.
            let words = ending.lastWords
            let isOutOfMemory =
                ending.isOutOfMemory || words.contains("bad_alloc") || words.contains("failed to allocate")
            self = isOutOfMemory ? .memory : ending.isOwnDoing ? .crashed(ending.reason) : .killed
        }
    }

    private let work: EngineWork
    private let cause: Cause

    init(_ work: EngineWork, _ cause: Cause) { (self.work, self.cause) = (work, cause) }

    /// - Parameter model: its name.
    func error(_ model: String) -> LLMError {
        let doing =
            switch work {
            case .load: "it was loaded"
            case .template: "its chat template ran"
            case .tokenize: "a text was cut into tokens"
            case .decode: "it computed"
            }
        let (code, reason) =
            switch cause {
            case .crashed(let reason): ("crashed", reason)
            case .memory: ("memory", "it had too little memory")
            case .time(let reason): ("time", reason)
            case .killed: ("killed", "another process ended it")
            }
        return LLMError(
            .engineDied, "the engine of \(model) ended while \(doing): \(reason)",
            context: ErrorContext(
                model: model, field: work.rawValue, found: code, remedy: "Ask again; the engine starts anew."))
    }
}

extension LLMError {
    /// Whether it tells that a worker ended by its own doing.
    package var isOwnDeath: Bool { code == .engineDied && context.found != nil && context.found != "killed" }

    /// Whether it tells that cutting a text into tokens took too long, which depends on the text.
    package var isSlowText: Bool { code == .engineDied && context.found == "time" && context.field == "tokenize" }
}

extension CallWatch.Kind {
    var work: EngineWork {
        switch self {
        case .template: .template
        case .tokenizer: .tokenize
        case .step, .picture: .decode
        }
    }
}

extension EngineOrder {
    /// What a worker mostly does for the order.
    var work: EngineWork {
        switch self {
        case .open, .work: .load
        case .tokenize, .count, .pieces: .tokenize
        case .rendered: .template
        case .generate, .prepare, .embed, .rank, .unload, .cancel, .answerNow, .forget: .decode
        }
    }
}
