#if Llama
import Dispatch
import Foundation
import HearthBase
@testable import HearthLlama
import Testing

@Suite struct LlamaLogTests {
    @Test func joinsPiecesToLines() {
        let log = LlamaLog()
        log.append("cannot ", level: .error, continues: false)
        log.append("open ", level: .debug, continues: true)
        log.append("it\nand more\n", level: .debug, continues: true)
        log.append("unfinished", level: .error, continues: false)
        log.append("fine\n", level: .debug, continues: false)
        #expect(log.takeProblems() == ["cannot open it", "and more", "unfinished"])
        #expect(log.takeProblems().isEmpty)
    }

    @Test func keepsTheFirstProblems() {
        let log = LlamaLog()
        for index in 0..<100 { log.append("problem \(index)\n", level: .error, continues: false) }
        #expect(log.takeProblems().count == 8)
    }

    /// Runs a part on another thread, and waits for it.
    private func elsewhere(_ body: @escaping @Sendable () -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        Thread {
            body()
            isDone.signal()
        }
        .start()
        isDone.wait()
    }

    /// A model may be loaded while another answers.
    @Test func eachThreadHasItsOwnLines() {
        let log = LlamaLog()
        log.append("mine ", level: .error, continues: false)
        elsewhere {
            log.append("theirs ", level: .error, continues: false)
            log.append("too\n", level: .error, continues: true)
            #expect(log.takeProblems() == ["theirs too"])
            log.append("theirs again\n", level: .error, continues: false)
        }
        log.append("to the end\n", level: .error, continues: true)
        #expect(log.takeProblems() == ["mine to the end"])
        #expect(log.takeProblems().isEmpty)
    }

    @Test func eachLogHasItsOwnLines() {
        let logs = [LlamaLog(), LlamaLog()]
        logs[0].append("first\n", level: .error, continues: false)
        #expect(logs[1].takeProblems().isEmpty && logs[0].takeProblems() == ["first"])
    }
}
#endif
