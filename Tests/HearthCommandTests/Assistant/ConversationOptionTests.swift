import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthCommand

/// The options that `/set` changes.
@Suite struct ConversationOptionTests {
    @Test(arguments: [
        ("temperature", "0", "0.0"), ("temperature", "1.5", "1.5"), ("max-tokens", "20", "20"), ("seed", "7", "7"),
        ("top-k", "40", "40"), ("top-p", "0.9", "0.9"), ("min-p", "0.05", "0.05"), ("repeat-penalty", "1.1", "1.1"),
        ("frequency-penalty", "-1", "-1.0"), ("presence-penalty", "0.5", "0.5"),
    ])
    func aValueIsSetAndTakenBack(name: String, value: String, shown: String) throws {
        let first = GenerationOptions()
        var options = first
        let option = try ConversationOption.set(name, to: value, in: &options, first: first)
        #expect(option.text(options) == shown)
        #expect(options != first)
        _ = try ConversationOption.set(name, to: "default", in: &options, first: first)
        #expect(options == first)
    }

    @Test(arguments: [
        ("temperature", "hot"), ("temperature", "-1"), ("temperature", "nan"), ("temperature", ""), ("max-tokens", "0"),
        ("max-tokens", "1e3"), ("seed", "-1"), ("top-p", "2"), ("temprature", "1"), ("", "1"), ("prompt", "x"),
        ("cloud", "1"), ("temperature", "1 --cloud"), ("🙂", "🙂"),
    ])
    func otherValuesChangeNothing(name: String, value: String) {
        let first = GenerationOptions()
        var options = first
        let error = #expect(throws: UsageError.self) {
            try ConversationOption.set(name, to: value, in: &options, first: first)
        }
        #expect(options == first)
        #expect(error?.message.contains("--") == false || value.contains("--"))
    }

    @Test func aMistypedNameGetsTheNearestOne() {
        var options = GenerationOptions()
        let error = #expect(throws: UsageError.self) {
            try ConversationOption.set("temprature", to: "1", in: &options, first: options)
        }
        #expect(error?.context.remedy == "Did you mean /set temperature?")
    }
}
