import Foundation
import HearthBase
import Testing

@testable import HearthCatalog

/// Names of quantizations, and the choice among them.
@Suite struct QuantizationTests {
    @Test(
        arguments: [
            ("Qwen3-4B-Instruct-2507-Q4_K_M.gguf", "Q4_K_M"), ("Llama-3.2-3B-Instruct.Q4_K_S.gguf", "Q4_K_S"),
            ("qwen2.5-coder-1.5b-q8_0.gguf", "Q8_0"), ("ggml-model-Q4_0.gguf", "Q4_0"),
            ("gemma-3-270m-it-UD-IQ2_M.gguf", "UD-IQ2_M"), ("Qwen3.5-4B-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"),
            ("gpt-oss-20b-mxfp4.gguf", "MXFP4"), ("gpt-oss-20b-MXFP4_MOE.gguf", "MXFP4_MOE"),
            ("m-F16.gguf", "F16"), ("m-fp16.gguf", "F16"), ("m.BF16.gguf", "BF16"), ("m-Q6_K_L.gguf", "Q6_K_L"),
            ("embeddinggemma-300M-qat-Q4_0.gguf", "Q4_0"), ("model_q5_k_m.gguf", "Q5_K_M"),
            ("m-IQ3_XXS.gguf", "IQ3_XXS"),
            ("m-TQ1_0.gguf", "TQ1_0"), ("m-Q4_0_4_4.gguf", "Q4_0_4_4"),
            ("Q8_0/model-00001-of-00002.gguf", "Q8_0"), ("Q8_0/m-Q4_K_M-00001-of-00002.gguf", "Q4_K_M"),
            ("UD-Q2_K_XL/m-00001-of-00003.gguf", "UD-Q2_K_XL"),
            ("model.gguf", nil), ("Qwen3-4B.gguf", nil), ("a/b/model.gguf", nil), ("q.gguf", nil), ("Q9_K.gguf", nil),
            ("Q4.gguf", nil), ("Q4_.gguf", nil), ("Q4_KKKKKKKKKKKKKKKKKK.gguf", nil),
        ] as [(String, String?)])
    func aFileTellsItsQuantization(file: String, label: String?) throws {
        #expect(QuantizationLabel(file: try #require(RelativePath(file)))?.name == label)
    }

    @Test(arguments: ["q4_k_m", "Q4_K_M", "ud-q4_k_xl", "mxfp4", "bf16", "F32", "iq2_xs"])
    func theLetterCaseOfALabelDoesNotCount(text: String) {
        #expect(QuantizationLabel(text)?.name == text.uppercased())
    }

    @Test(arguments: [
        "", "q", "Q4", "latest", "3b", "model.gguf", "Q4_K_M.gguf", "UD-", "UD-UD-Q4_0", "Q4_K_M ", "Q4_\u{1b}[31m",
        "Q４_0", "Q0_0", String(repeating: "Q4_0", count: 1000),
    ])
    func otherTextsAreNoLabels(text: String) { #expect(QuantizationLabel(text) == nil) }

    /// A model of so many billion parameters, in these builds, on a machine with so many GB.
    @Test(
        arguments: [
            (4, 8, nil, ["Q2_K", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "F16"], "Q8_0"),
            (4, 6, nil, ["Q4_K_M", "Q5_K_M", "Q8_0"], "Q5_K_M"),
            // Q8_0 would answer with fewer than five tokens a second.
            (4, 16, 20, ["Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0"], "Q6_K"),
            // None is fast enough: the smallest of the good ones.
            (8, 16, 5, ["Q3_K_M", "Q4_K_M", "Q8_0"], "Q4_K_M"),
            // Never above Q8_0 where there is something else, however much memory there is.
            (1, 512, nil, ["Q8_0", "BF16", "F32"], "Q8_0"), (1, 512, nil, ["F32", "BF16"], "BF16"),
            (8, 7, nil, ["Q2_K", "Q3_K_M", "Q4_0", "Q4_K_M"], "Q3_K_M"),
            (8, 8, nil, ["Q2_K", "Q4_0", "IQ4_XS", "Q4_K_M", "Q5_K_M"], "Q4_0"),
            // A small model does not bear fewer than four bits.
            (3, 2, nil, ["Q2_K", "Q3_K_M", "Q4_K_M"], nil), (3, 8, nil, ["Q2_K"], nil),
            (21, 20, nil, ["MXFP4"], "MXFP4"), (21, 12, nil, ["MXFP4"], nil), (1, 8, nil, ["Q4_0_4_4"], nil),
            (1, 8, nil, [], nil),
        ] as [(Double, Double, Double?, [String], String?)])
    func oneSuitsTheDevice(
        billions: Double, memory: Double, bandwidth: Double?, labels: [String], chosen: String?
    ) throws {
        let rule = QuantizationRule(memory: UInt64(memory * 1e9), bandwidth: bandwidth.map { $0 * 1e9 })
        let candidates = try labels.map {
            QuantizationRule.Candidate(label: try #require(QuantizationLabel($0)), parameters: UInt64(billions * 1e9))
        }
        let choice = rule.choose(among: candidates)
        #expect(choice.map { labels[$0.index] } == chosen)
        #expect(choice?.isCoarse ?? false == (chosen?.contains("Q3") ?? false))
    }

    @Test func aMixtureOfExpertsIsJudgedByTheWeightsItReads() throws {
        let label = try #require(QuantizationLabel("Q4_K_M"))
        let build = QuantizationRule.Candidate(label: label, parameters: 30_000_000_000)
        let dense = QuantizationRule(memory: 32_000_000_000, bandwidth: 40e9)
        let sparse = QuantizationRule(memory: 32_000_000_000, bandwidth: 40e9, activeShare: 0.1)
        #expect(try #require(dense.tokensPerSecond(build)) < 5)
        #expect(try #require(sparse.tokensPerSecond(build)) > 20)
    }
}
