#if os(Linux) || os(macOS)
import Foundation
import HearthBase
import Testing

/// Programs that run apart.
@Suite(.timeLimit(.minutes(1))) struct LimitedProgramTests {
    private func failure(_ words: [String], maximumOutput: Int = 1000) -> LimitedProgram.Failure? {
        do {
            _ = try LimitedProgram(words, maximumOutput: maximumOutput).run()
            return nil
        } catch {
            return error
        }
    }

    @Test func theOutputIsReturnedAndTheEnvironmentIsEmpty() throws {
        #expect(try LimitedProgram(["printf", "%s", "a b"], maximumOutput: 10).run() == Data("a b".utf8))
        let variables = String(decoding: try LimitedProgram(["env"], maximumOutput: 10_000).run(), as: UTF8.self)
        let names = Set(variables.split(separator: "\n").compactMap { $0.split(separator: "=").first.map(String.init) })
        #expect(names.subtracting(["PATH", "LC_ALL", "PWD", "OLDPWD", "SHLVL", "_"]).isEmpty)
    }

    @Test func eachFailureIsTold() {
        #expect(failure(["hearth-no-such-program"]) == .missing)
        #expect(failure(["sh", "-c", "echo words >&2; exit 3"]) == .failed("words\n"))
        #expect(failure(["yes"]) == .outputTooLarge)
        // More on the standard error than a pipe holds does not stop a program.
        #expect(
            failure(["sh", "-c", "yes | head -c 300000 >&2; exit 1"]) == .failed(String(repeating: "y\n", count: 2048)))
    }

    @Test func aProgramThatTakesTooMuchMemoryFails() {
        let words = ["sh", "-c", "ulimit -v"]
        #expect((try? LimitedProgram(words, maximumOutput: 100).run()) == Data("2097152\n".utf8))
    }
}
#endif
