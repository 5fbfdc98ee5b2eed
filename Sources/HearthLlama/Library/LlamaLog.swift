#if Llama
    import CLlama
    import CLlamaShim
    import Foundation
    import HearthBase

    /// The log of llama.cpp, joined to lines and handed to the package's own.
    ///
    /// llama.cpp has one log callback for the process, so this is one object for the process. It is called on the thread that called
    /// llama.cpp: problems are kept by thread, so that no model's failure is explained by another's problem.
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

        /// The calling thread's; `nil` where it has said nothing yet.
        private var record: Record? { Thread.current.threadDictionary[key] as? Record }

        private func madeRecord() -> Record {
            if let record { return record }
            let record = Record()
            Thread.current.threadDictionary[key] = record
            return record
        }

        /// Takes a piece of a line; `continues` joins it to the piece before.
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
                // The first lines name the cause, those after them only pass it on.
                if level == .error, record.problems.count < Self.keptProblems { record.problems.append(line) }
                Log.write(level, line)
            }
        }

        /// Takes what one of llama.cpp's libraries says.
        func append(_ level: ggml_log_level, _ text: UnsafePointer<CChar>?) {
            guard let text else { return }
            let rank: Log.Level =
                switch level {
                case GGML_LOG_LEVEL_ERROR: .error
                case GGML_LOG_LEVEL_WARN: .warning
                // Information of llama.cpp is for its developers.
                default: .debug
                }
            append(String(cString: text), level: rank, continues: level == GGML_LOG_LEVEL_CONT)
        }

        /// The first error lines of the calling thread since its last call. To get those of one call of llama.cpp, take
        /// them before it too.
        func takeProblems() -> [String] {
            guard let record else { return [] }
            defer { record.problems = [] }
            return record.problems
        }
    }

    /// What is done once for the process before anything else of llama.cpp is used.
    enum LlamaLibrary {
        /// Installs the log and finds the back ends; later calls do nothing.
        static func prepare() { _ = prepared }

        private static let prepared: Void = {
            llama_log_set({ level, text, _ in LlamaLog.shared.append(level, text) }, nil)
            hearth_vision_log(
                { level, text, _ in LlamaLog.shared.append(ggml_log_level(rawValue: UInt32(level)), text) }, nil)
            // A build with its back ends linked in has registered them already; only one that loads them is told to look,
            // because the search takes what lies in the working directory.
            if ggml_backend_dev_count() == 0 { ggml_backend_load_all() }
            llama_backend_init()
            if version != pinnedVersion {
                Log.write(
                    .warning, "this is llama.cpp \(version), but the package is written for \(pinnedVersion)")
            }
        }()

        /// The version of llama.cpp the package is written for.
        static var pinnedVersion: String { HEARTH_LLAMA_VERSION }

        /// The version of llama.cpp that is linked.
        static var version: String { String(cString: llama_version()) }
    }
#endif
