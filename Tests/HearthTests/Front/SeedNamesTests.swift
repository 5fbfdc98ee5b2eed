import Hearth
import Testing

/// Calls by the names of seed 001, as its readers write them.
@Suite(.timeLimit(.minutes(1))) struct SeedNamesTests {
    @Test func aLocalModelIsAService() {
        let service: any LLMServiceProtocol.Type = LLMService.self
        #expect(ObjectIdentifier(service) == ObjectIdentifier(LiveModel.self))
    }
}
