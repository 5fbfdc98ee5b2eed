import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthClassification

@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(5))) struct ClassifierProxyTests {
    @Test func withoutAClassifierNothingIsReady() async {
        let proxy = ClassifierProxy()
        #expect(await !proxy.isModelReady)
        #expect(await proxy.information == nil)
        #expect(await refusal { _ = try await proxy.classify([]) } == "classifier-not-ready")
        await proxy.update(ScriptedClassifier(answers: [:]))
        #expect(await proxy.isModelReady)
        await proxy.clear()
        #expect(await !proxy.isModelReady)
    }

    /// Two models with other numbers of classes change places while eight tasks use them.
    @Test func noCallMixesTwoModels() async throws {
        let swaps = ProcessInfo.processInfo.environment["HEARTH_TESTS"] == "full" ? 200 : 20
        var wide = ONNXBuilder()
        wide.classes = 9
        let (one, two) = (try ClassifierLab(), try ClassifierLab())
        let paths = (
            try one.write(labels: ["a0", "a1", "a2", "a3"]), try two.write(wide, labels: (0..<9).map { "b\($0)" })
        )
        let proxy = ClassifierProxy(try await ONNXClassifier.load(paths.0))
        let pictures = try ClassifierLab.pictures()
        let isOver = Locked(false)
        let calls = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var calls = 0
                    while !isOver.withLock({ $0 }) || calls == 0 {
                        let answers = try await proxy.classify(pictures, top: 9)
                        for (place, answer) in answers.enumerated() {
                            let model = answer[0].label.first
                            #expect(answer[0].label == "\(model ?? "?")\(place)")
                            #expect(answer.count == (model == "a" ? 4 : 9))
                            #expect(answer.allSatisfy { $0.label.first == model })
                        }
                        calls += 1
                    }
                    return calls
                }
            }
            for swap in 1...swaps {
                await proxy.update(try await ONNXClassifier.load(swap.isMultiple(of: 2) ? paths.0 : paths.1))
            }
            isOver.withLock { $0 = true }
            var sum = 0
            for try await count in group { sum += count }
            return sum
        }
        #expect(calls >= 8)
    }
}
