#if Llama
import CLlama
import CLlamaShim
import Foundation
import HearthBase

/// Joins the log output of llama.cpp to lines and writes them to the package's log.
///
/// llama.cpp has one log callback for each process, so there is one object for each process. llama.cpp calls it on
/// the thread that called llama.cpp. Problems are kept by thread, so that one model's problem never explains the
/// failure of another.
final class LlamaLog: Sendable {
    static let shared = LlamaLog()

    /// The lines of one thread, which live as long as the thread.
    private final class Record {
        var pending = ""
        var level = Log.Level.debug
        var problems: [String] = []
    }

    private static let keptProblems = 8
    private let key = "hearth.llama.log." + UUID().uuidString

    /// The calling thread's record; `nil` before its first line.
    private var record: Record? { Thread.current.threadDictionary[key] as? Record }

    private func madeRecord() -> Record {
        if let record { return record }
        let record = Record()
        Thread.current.threadDictionary[key] = record
        return record
    }

    /// Adds a piece of a line; `continues` joins it to the piece before.
    func append(_ text: String, level: Log.Level, continues: Bool) {
        let record = madeRecord()
        var lines: [(Log.Level, String)] = []
        if !continues {
            if !record.pending.isEmpty { lines.append((record.level, record.pending)) }
            record.pending = ""
            record.level = level
        }
        record.pending += text
        while let end = record.pending.firstIndex(of: "\n") {
            let line = String(record.pending[..<end])
            record.pending = String(record.pending[record.pending.index(after: end)...])
            if !line.isEmpty { lines.append((record.level, line)) }
        }
        for (level, line) in lines {
            // The first lines name the cause; later lines only repeat it.
            if level == .error, record.problems.count < Self.keptProblems { record.problems.append(line) }
            Log.write(level, line)
        }
    }

    /// Adds a message of one of llama.cpp's libraries.
    func append(_ level: ggml_log_level, _ text: UnsafePointer<CChar>?) {
        guard let text else { return }
        let rank: Log.Level =
            switch level {
            case GGML_LOG_LEVEL_ERROR: .error
            case GGML_LOG_LEVEL_WARN: .warning
            // llama.cpp's information is meant for its developers.
            default: .debug
            }
        append(String(cString: text), level: rank, continues: level == GGML_LOG_LEVEL_CONT)
    }

    /// Returns and removes the first error lines of the calling thread. Call it before and after a call of
    /// llama.cpp to get the lines of that call.
    func takeProblems() -> [String] {
        guard let record else { return [] }
        defer { record.problems = [] }
        return record.problems
    }
}

/// The preparation of llama.cpp, once for each process, before any other call.
enum LlamaLibrary {
    /// Installs the log callback and finds the back ends; later calls do nothing.
    static func prepare() { _ = prepared }

    private static let prepared: Void = {
        llama_log_set({ level, text, _ in LlamaLog.shared.append(level, text) }, nil)
        hearth_vision_log(
            { level, text, _ in LlamaLog.shared.append(ggml_log_level(rawValue: UInt32(level)), text) }, nil)
        // A build with linked back ends has registered them already. Only a build that loads them searches, because
        // the search also loads libraries in the working directory.
        if ggml_backend_dev_count() == 0 { ggml_backend_load_all() }
        llama_backend_init()
        if version != pinnedVersion {
            Log.write(
                .warning, "this is llama.cpp \(version), but the package is written for \(pinnedVersion)")
        }
    }()

    /// The version of llama.cpp for which the package is written.
    static var pinnedVersion: String { HEARTH_LLAMA_VERSION }

    /// The version of llama.cpp that is linked.
    static var version: String { String(cString: llama_version()) }
}
#endif
