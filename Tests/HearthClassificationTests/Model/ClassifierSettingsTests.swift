import Foundation
import HearthBase
import Testing

@testable import HearthClassification

struct ClassifierSettingsTests {
    private func settings(_ text: String) throws -> ClassifierSettings {
        try ClassifierSettings(Data(text.utf8), name: "classifier.json")
    }

    @Test func everyMemberIsRead() throws {
        let found = try settings(
            """
            { "format": 1, "output": "probabilities", "temperature": 1.5, "thresholds": { "green": 0.8, "yellow": 0.5 },
              "input": { "width": 32, "height": 16, "layout": "nhwc", "channels": "bgr", "mean": [1, 2, 3], "scale": 0.5,
                         "margin": 0.2 },
              "classListVersion": "v7", "canary": { "picture": "c.png", "label": "4EBA" }, "later": [] }
            """)
        #expect(found.shape(2) == [2, 16, 32, 3])
        #expect(found.mean == [1, 2, 3])
        #expect(found.scale == [0.5, 0.5, 0.5])
        #expect((found.output, found.temperature, found.margin) == (.probabilities, 1.5, 0.2))
        #expect(found.thresholds == RoutingThresholds(green: 0.8, yellow: 0.5))
        #expect(found.canary?.label == "人")
        #expect(found.classListVersion == "v7")
    }

    @Test(arguments: [
        ("", ""), ("[]", ""), ("{}", "format"), (#"{"format": 2}"#, "format"), (#"{"format": 1}"#, "input"),
        (#"{"format": 1, "input": {"channels": "cmyk"}}"#, "input.channels"),
        (#"{"format": 1, "input": {"channels": "grey", "width": 0}}"#, "input.width"),
        (#"{"format": 1, "input": {"channels": "grey", "width": 1.5}}"#, "input.width"),
        (#"{"format": 1, "input": {"channels": "grey", "width": 1e9}}"#, "input.width"),
        (#"{"format": 1, "input": {"channels": "grey", "width": 8, "height": 8, "layout": "chw"}}"#, "input.layout"),
        (
            #"{"format": 1, "input": {"channels": "rgb", "width": 8, "height": 8, "layout": "nchw", "mean": [1, 2]}}"#,
            "input.mean"
        ),
        (
            #"{"format": 1, "output": "odds", "input": {"channels": "grey", "width": 8, "height": 8, "layout": "nchw", "mean": 0, "scale": 1}}"#,
            "output"
        ),
        (
            #"{"format": 1, "output": "logits", "temperature": 0, "input": {"channels": "grey", "width": 8, "height": 8, "layout": "nchw", "mean": 0, "scale": 1}}"#,
            "temperature"
        ),
        (
            #"{"format": 1, "output": "logits", "thresholds": {"green": 0.5}, "input": {"channels": "grey", "width": 8, "height": 8, "layout": "nchw", "mean": 0, "scale": 1}}"#,
            "thresholds.yellow"
        ),
        (#"{"format": 1, "canary": {"picture": "../x"}, "input": {"channels": "grey"}}"#, "canary.picture"),
    ]) func aWrongMemberIsNamed(_ text: String, _ field: String) {
        #expect {
            _ = try settings(text)
        } throws: { error in
            let error = error as? ClassificationError
            return error?.code == .unusableSettings && error?.context.field ?? "" == field
        }
    }
}

struct ClassLabelsTests {
    private func labels(_ text: String, name: String = "v1.txt") throws -> [String] {
        try ClassLabels(Data(text.utf8), name: name).labels
    }

    @Test func hexadecimalLabelsBecomeCharacters() throws {
        #expect(try labels("4EBA\n5929\r\nU+20B9F\n\n") == ["人", "天", "𠮟"])
        #expect(try labels(#"["4EBA", "5929"]"#, name: "classes.json") == ["人", "天"])
    }

    @Test func otherLabelsStayAsTheyAre() throws {
        #expect(try labels("face\nbad\nhuman") == ["face", "bad", "human"])
        #expect(try labels("\u{FEFF}人\n天") == ["人", "天"])
        #expect(try labels("D800\n4EBA") == ["D800", "4EBA"])
    }

    @Test func compatibilityCharactersAreClassesOfTheirOwn() throws {
        // To Swift, U+F900 equals U+8C48.
        #expect(try labels("F900\n8C48").map { $0.unicodeScalars.first?.value } == [0xF900, 0x8C48])
    }

    @Test(arguments: [
        ("", "v1.txt"), ("\n\n", "v1.txt"), ("人\n\n天", "v1.txt"), ("人\n人", "v1.txt"), ("4EBA\n4eba", "v1.txt"),
        ("{}", "classes.json"), ("[1]", "classes.json"), ("[", "classes.json"), ("[]", "classes.json"),
        (String(repeating: "x", count: 300), "v1.txt"),
    ]) func anUnusableListIsRefused(_ text: String, _ name: String) {
        #expect(refusal { _ = try labels(text, name: name) } == "class-list-unusable")
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(refusal { _ = try ClassLabels(Data([0xFF, 0xFE, 0x41]), name: "v1.txt") } == "class-list-unusable")
    }

    private func refusal(_ body: () throws -> Void) -> String? { HearthClassificationTests.refusal(now: body) }
}
