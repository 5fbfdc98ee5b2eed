import Foundation
import HearthBase
import Testing

@Suite struct JSONDocumentTests {
    @Test func keepsTheOrderOfKeysAndTheDigitsOfNumbers() throws {
        let text = #"{"b":1.50,"a":{"z":[1e2,-0,true,null],"y":"é\n"},"c":18446744073709551616}"#
        let value = try JSONValue(parsing: text)
        #expect(value.line == text)
        #expect(value.members?.keys == ["b", "a", "c"])
        #expect(
            value
                == (try JSONValue(
                    parsing: #"{"c":18446744073709551616,"a":{"y":"é\n","z":[1e2,-0,true,null]},"b":1.50}"#)))
    }

    @Test func writesInThreeStyles() {
        let value: JSONValue = ["b": [1, "x\"\\\u{1}\u{7F}\u{2028}\r\t"], "a": [:], "é": []]
        #expect(value.line == #"{"b":[1,"x\"\\\u0001\u007f\u2028\r\t"],"a":{},"é":[]}"#)
        #expect(
            value.text
                == "{\n  \"a\": {},\n  \"b\": [\n    1,\n    \"x\\\"\\\\\\u0001\\u007f\\u2028\\r\\t\"\n  ],\n  \"é\": []\n}"
        )
        #expect(value.data == Data((value.text + "\n").utf8))
        #expect(value.canonicalData == Data("{\"a\":{},\"b\":[1,\"x\\\"\\\\\u{1}\u{7F}\u{2028}\r\t\"],\"é\":[]}".utf8))
    }

    @Test(arguments: ["1.0", "-0", "1e2"])
    func onlyWholeNumbersAreCanonical(digits: String) {
        #expect(JSONValue.array([.number(digits)]).canonicalData == nil)
        #expect(JSONValue.number("-12").canonicalData == Data("-12".utf8))
    }

    @Test(arguments: [
        #"{"a":1,"a":2}"#, "[1,]", "{} {}", "\"\u{1}\"", #""\ud800""#, "01", "nul", "",
        String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
    ])
    func refusesWhatHasNoOrSeveralMeanings(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
        #expect(JSONValue.object(parsing: text) == [:])
    }

    @Test func aMemberKeepsItsPlaceUntilItIsRemoved() {
        var value: JSONValue = ["a": 1, "b": 2]
        value["a"] = 3
        value["c"] = 4
        #expect(value.line == #"{"a":3,"b":2,"c":4}"#)
        value["a"] = nil
        value["absent"] = nil
        value["a"] = 5
        #expect(value.line == #"{"b":2,"c":4,"a":5}"#)
        #expect(JSONMembers(["z": 1, "y": 2]).after(["x": 0, "z": 0]).keys == ["x", "z", "y"])
    }
}

@Suite struct FailureBodyTests {
    private let failure = FailureBody(
        code: "metered-network", message: "this network is metered",
        context: ErrorContext(model: "toy", expected: "1", remedy: "Allow it."), disposition: .tryLater)

    @Test func standsFlatOnTheWireAndIsReadBack() throws {
        let text = try JSON.text(failure)
        #expect(
            text
                == #"{"code":"metered-network","expected":"1","message":"this network is metered","model":"toy","remedy":"Allow it.","status":75}"#
        )
        #expect(try JSON.value(FailureBody.self, Data(text.utf8)) == failure)
        #expect(try JSON.text(FailureBody(code: "x", message: "y")) == #"{"code":"x","message":"y"}"#)
        #expect(failure.errorDescription == "this network is metered. Allow it.")
    }

    @Test(arguments: ["{}", #"{"code":1,"message":"x"}"#, #"{"code":"x","message":"y","status":"z"}"#, "[]"])
    func refusesWhatIsNoFailure(text: String) {
        #expect(throws: DecodingError.self) { try JSON.value(FailureBody.self, Data(text.utf8)) }
    }
}

@Suite struct JSONCodingTests {
    private struct Sample: Codable, Hashable {
        var date: Date
        @OrNull var name: String?
    }

    @Test func datesHaveSecondsOrMillisecondsAndAreReadInEachOffset() throws {
        let sample = Sample(date: Date(timeIntervalSince1970: 1_000_000_000.25), name: nil)
        #expect(try JSON.text(sample) == #"{"date":"2001-09-09T01:46:40Z","name":null}"#)
        let exact = try JSON.data(sample, dates: .milliseconds)
        #expect(String(decoding: exact, as: UTF8.self) == #"{"date":"2001-09-09T01:46:40.250Z","name":null}"#)
        #expect(try JSON.value(Sample.self, exact) == sample)
        let elsewhere = Data(#"{"date":"2001-09-09T03:46:40.250+02:00"}"#.utf8)
        #expect(try JSON.value(Sample.self, elsewhere) == sample)
        #expect(throws: DecodingError.self) { try JSON.value(Sample.self, Data(#"{"date":"yesterday"}"#.utf8)) }
    }
}
