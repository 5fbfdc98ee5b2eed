import HearthInference

/// Context windows that a request chooses, or needs.
extension APIService {
    /// The model of a request, with a context window as large as it asks for.
    /// - Throws: ``APIFailure`` if it cannot be opened; errors of the load.
    func ready(_ request: APIRequest) async throws -> Ready {
        let ready = try await ready(request.model)
        guard let wanted = ready.window(of: request), wanted > ready.information.contextLength,
            !ready.information.isRemote
        else { return ready }
        // No model reads more than it was made for.
        let length = min(wanted, ready.information.trainedContextLength ?? wanted)
        guard try await provider.widen(ready.model, to: length) else {
            throw APIFailure.notServed(
                "options.num_ctx",
                "is \(wanted), and the model is loaded with a context of \(ready.information.contextLength) tokens")
        }
        return try await self.ready(request.model)
    }

    /// The model with a context window for a prompt that was too long; `nil` if there is none, and for other errors.
    func wider(_ request: APIRequest, _ ready: Ready, _ error: any Error) async throws -> Ready? {
        guard let needed = (error as? LLMError)?.neededTokens, ready.window(of: request) == nil,
            try await provider.widen(ready.model, to: needed + 1)
        else { return nil }
        return try await self.ready(request)
    }
}

extension APIService.Ready {
    /// The context window that a request or its preset asks for.
    func window(of request: APIRequest) -> Int? { request.window ?? model.preset?.window }
}
