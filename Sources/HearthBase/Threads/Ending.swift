/// Runs a body, then an end, also after a failure of the body.
package func withEnding<Value>(
    isolation: isolated (any Actor)? = #isolation, _ end: () async -> Void, _ body: () async throws -> Value
) async rethrows -> Value {
    do {
        let value = try await body()
        await end()
        return value
    } catch {
        await end()
        throw error
    }
}
