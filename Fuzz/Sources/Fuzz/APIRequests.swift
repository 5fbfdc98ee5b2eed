import Foundation

@testable import HearthInference
@testable import HearthServer

/// Reads a body as a request of the dialect that its first byte chooses. An accepted request keeps the bounds that the
/// service and the engine rely on.
func fuzzAPIRequest(_ data: Data) {
    let body = Array(data.dropFirst())
    func decoded<Form>(_ decode: (Fields) throws(APIFailure) -> Form) -> Form? {
        do {
            return try decode(Fields(parsing: body))
        } catch {
            let failure = APIFailure(error)
            precondition(!failure.message.isEmpty, "a refusal says nothing")
            precondition((400..<500).contains(failure.status), "a refusal is no client's error: \(failure)")
            return nil
        }
    }
    let request: APIRequest? =
        switch (data.first ?? 0) % 7 {
        case 0: decoded { (fields) throws(APIFailure) in try ChatRequest.decode(fields).request }
        case 1: decoded { (fields) throws(APIFailure) in try TextRequest.decode(fields).request }
        case 2: decoded { (fields) throws(APIFailure) in try ResponsesRequest.decode(fields).request }
        case 3: decoded { (fields) throws(APIFailure) in try MessagesRequest.decode(fields).request }
        case 4: decoded { (fields) throws(APIFailure) in try OllamaRequest.decode(fields, .chat).request }
        case 5: decoded { (fields) throws(APIFailure) in try OllamaRequest.decode(fields, .generate).request }
        default: decoded { (fields) throws(APIFailure) in try CompletionRequest.decode(fields).request }
        }
    guard let request else { return }
    precondition((1...64).contains(request.copies), "the number of answers is not bounded")
    precondition(request.maximumNewTokens ?? 1 > 0, "an answer has no token")
    precondition(request.stopStrings.allSatisfy { !$0.isEmpty }, "a stop string is empty")
    let options = request.sampling.applied(to: SamplingOptions())
    precondition(options.temperature.isFinite && options.temperature >= 0, "the temperature is \(options.temperature)")
    precondition(options.topP.map { $0 > 0 && $0 < 1 } ?? true, "top-p leaves no token")
    precondition(request.keepAlive.map { $0 >= .zero } ?? true, "a model stays for a negative time")
    if case .prompts(let prompts) = request.input {
        precondition(!prompts.isEmpty && prompts.allSatisfy { !$0.isEmpty }, "a prompt is empty")
    }
}
