import HearthBase
import HearthTestSupport
import Testing

@testable import HearthClassification

struct ONNXFactsTests {
    @Test func metadataAndOperatorsAreRead() throws {
        var model = ONNXBuilder()
        model.metadata = ["classes": "a\nb", "classifier": "{}"]
        let facts = try ONNXFacts(model.bytes, name: "m.onnx")
        #expect(facts.metadata == ["classes": "a\nb", "classifier": "{}"])
        #expect(facts.operators == ["Flatten", "Gemm"])
    }

    @Test func aModelCutOffAnywhereIsRefused() {
        let bytes = ONNXBuilder().bytes
        for count in 0..<bytes.count {
            let code = refusal { _ = try ONNXFacts(Array(bytes.prefix(count)), name: "m.onnx") }
            // The last part is the version of the operators, without which the rest is whole.
            if code == nil { #expect(count >= bytes.count - 4) } else { #expect(code == "classifier-unreadable") }
        }
    }

    @Test func noOtherFileIsReadForWeights() {
        var model = ONNXBuilder()
        model.externalFile = "/etc/hostname"
        #expect(refusal { _ = try ONNXFacts(model.bytes, name: "m.onnx") } == "classifier-unsupported")
    }

    @Test func changedBytesNeverCrash() {
        var random = SeededGenerator(seed: 27)
        let bytes = ONNXBuilder().bytes
        for _ in 0..<2000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let code = refusal { _ = try ONNXFacts(changed, name: "m.onnx") }
            #expect(code == nil || code == "classifier-unreadable" || code == "classifier-unsupported")
        }
    }

    @Test func metadataAndNestingAreBounded() {
        var model = ONNXBuilder()
        model.metadata = ["a": String(repeating: "x", count: 2 << 20)]
        #expect(refusal { _ = try ONNXFacts(model.bytes, name: "m.onnx") } == "classifier-unreadable")
        // Graphs in attributes of nodes of graphs: field 6 of field 5 of field 1.
        var inner: [UInt8] = []
        for _ in 0..<20 {
            for tag: UInt8 in [0x32, 0x2A, 0x0A] { inner = [tag] + Self.length(inner.count) + inner }
        }
        let nested: [UInt8] = [0x08, 8, 0x3A] + Self.length(inner.count) + inner
        #expect(refusal { _ = try ONNXFacts(nested, name: "m.onnx") } == "classifier-unreadable")
    }

    @Test(arguments: ["", "{}", "<html>", "GGUF\u{3}"]) func otherFilesAreRefused(_ text: String) {
        #expect(refusal { _ = try ONNXFacts(Array(text.utf8), name: "m.onnx") } == "classifier-unreadable")
    }

    private static func length(_ count: Int) -> [UInt8] {
        count < 128 ? [UInt8(count)] : [UInt8(count & 127) | 128] + length(count >> 7)
    }

    private func refusal(_ body: () throws -> Void) -> String? { HearthClassificationTests.refusal(now: body) }
}
