import HearthBase
import HearthInference
import Testing

@testable import HearthFoundationModels

/// The error of a session for each error of an engine.
@Suite struct RequestFailureTests {
    private static func limited() -> LLMError {
        var context = ErrorContext()
        context.retryAfterSeconds = 30
        return LLMError(.rateLimited, "m", context: context)
    }

    @Test(
        arguments: [
            (
                LLMError(.exceededContextWindowSize, "m", context: ErrorContext(found: "5000 tokens")),
                .contextSizeExceeded(size: 4096, tokens: 5000, "m")
            ),
            (
                LLMError(.exceededContextWindowSize, "m", context: ErrorContext(found: "160000 bytes")),
                .contextSizeExceeded(size: 4096, tokens: 10001, "m")
            ),
            (LLMError(.exceededContextWindowSize, "m"), .contextSizeExceeded(size: 4096, tokens: 4097, "m")),
            (limited(), .rateLimited(seconds: 30, "m")), (LLMError(.busy, "m"), .rateLimited(seconds: nil, "m")),
            (LLMError(.timedOut, "m"), .timeout("m")), (LLMError(.unusableGrammar, "m"), .unsupportedGuide("m")),
            (LLMError(.cannotReadPicture, "m"), .unsupportedContent([2], "m")),
            (LLMError(.pictureTooLarge, "m"), .unsupportedContent([2], "m")),
        ] as [(LLMError, RequestFailure)])
    func anErrorWithACaseOfApples(error: LLMError, failure: RequestFailure) {
        #expect(RequestFailure.of(error, window: 4096, pictures: [2]) as? RequestFailure == failure)
    }

    @Test(
        arguments: [
            .modelNotLoaded, .doesNotFit, .engineDied, .schemaNotMet, .noCredits, .unreachable, .unauthorised,
        ] as [ErrorCode<ModelInformation>])
    func otherErrorsStayThemselves(code: ErrorCode<ModelInformation>) {
        #expect((RequestFailure.of(LLMError(code, "m"), window: 1) as? LLMError)?.code == code)
    }

    @Test func whatIsNoErrorOfHearthStaysTheSame() {
        #expect(RequestFailure.of(CancellationError(), window: 1) is CancellationError)
        #expect(RequestFailure.of(RequestFailure.timeout("m"), window: 1) as? RequestFailure == .timeout("m"))
    }
}
