import HearthBase
import HearthInference
import Testing

@Suite struct ContextAdviceTests {
    /// A model that has its largest context already cannot be loaded with a larger one.
    @Test(
        arguments: [
            (8192, 8192, false), (8192, 32_768, true), (8192, 4096, false), (8192, nil, nil), (8192, 0, nil),
        ] as [(Int, Int?, Bool?)])
    func advisesWhatTheModelCanDo(window: Int, trained: Int?, loads: Bool?) {
        let error = ContextFit.exceeded(tokens: "9000", window: window)
        let advised = error.advised(window: window, trained: trained)
        #expect(advised.code == error.code && advised.context.found == error.context.found)
        guard let loads else {
            #expect(advised.context == error.context)
            return
        }
        #expect((advised.context.field == "contextLength") == loads)
        #expect(advised.context.remedy?.contains("load the model") == loads)
    }

    @Test func otherErrorsStay() {
        let error = LLMError(.busy, "busy")
        #expect(error.advised(window: 1, trained: 2).context == error.context)
    }
}
