import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthImport

/// The stretching of positions for long contexts.
@Suite struct RotationTests {
    private static func rotation(
        _ changes: [String: JSONValue], architecture: String = "llama", context: Int = 131_072
    ) throws -> Rotation {
        var members = SmallModel().configuration
        members["head_dim"] = 8
        members["max_position_embeddings"] = .integer(context)
        for (key, value) in changes { members[key] = value }
        let configuration = try ModelConfiguration(parsing: Data(JSONValue.object(JSONMembers(members)).line.utf8))
        return try Rotation(configuration, Dimensions(configuration), architecture: architecture)
    }

    private static func value(_ rotation: Rotation, _ key: String) -> GGUFValue? {
        rotation.facts.first { $0.key == key }?.value
    }

    /// Computed with the definition of transformers' `_compute_llama3_parameters`, as the ratio of the two frequencies.
    @Test func llama3HasAFactorForEachPair() throws {
        let rotation = try Self.rotation([
            "rope_theta": .number("500000.0"),
            "rope_scaling": [
                "factor": .number("32.0"), "low_freq_factor": .number("1.0"), "high_freq_factor": .number("4.0"),
                "original_max_position_embeddings": 8192, "rope_type": "llama3",
            ],
        ])
        let factors = try #require(rotation.factors.first)
        #expect(factors.name == "rope_freqs.weight")
        // Waves of 6.28, 167, 4443 and 118,144 positions; the third lies between 2048 and 8192.
        let wave = 2 * Double.pi * pow(500_000, 0.5)
        let share = (8192 / wave - 1) / 3
        #expect(factors.values == [1, 1, Float(1 / ((1 - share) / 32 + share)), 32])
        #expect(rotation.facts.map(\.key) == ["rope.freq_base", "rope.dimension_count"])
    }

    @Test func newConfigurationsNestTheirValues() throws {
        let rotation = try Self.rotation([
            "rope_theta": .null, "rope_parameters": ["rope_theta": .number("1000000.0"), "rope_type": "default"],
        ])
        #expect(Self.value(rotation, "rope.freq_base") == .float32(1e6))
        #expect(rotation.factors.isEmpty)
    }

    @Test func yarnKeepsItsValues() throws {
        let rotation = try Self.rotation([
            "rope_scaling": [
                "type": "yarn", "factor": .number("4.0"), "original_max_position_embeddings": 32768, "beta_fast": 32,
                "attention_factor": .null,
            ]
        ])
        #expect(Self.value(rotation, "rope.scaling.type") == .string("yarn"))
        #expect(Self.value(rotation, "rope.scaling.factor") == .float32(4))
        #expect(Self.value(rotation, "rope.scaling.original_context_length") == .uint32(32768))
        #expect(Self.value(rotation, "rope.scaling.yarn_beta_fast") == .float32(32))
        #expect(Self.value(rotation, "rope.scaling.yarn_attn_factor") == nil)
    }

    @Test func phiHasTwoListsOfFactors() throws {
        let lists: [String: JSONValue] = [
            "rope_scaling": [
                "type": "longrope", "long_factor": [1, 2, 3, 4], "short_factor": [1, 1, 1, .number("1.5")],
            ],
            "original_max_position_embeddings": 4096,
        ]
        let rotation = try Self.rotation(lists, architecture: "phi3")
        #expect(rotation.factors.map(\.name) == ["rope_factors_long.weight", "rope_factors_short.weight"])
        #expect(rotation.factors.map(\.values) == [[1, 2, 3, 4], [1, 1, 1, 1.5]])
        let factor = Float((1 + log(32.0) / log(4096.0)).squareRoot())
        #expect(Self.value(rotation, "rope.scaling.attn_factor") == .float32(factor))
        #expect(throws: ImportError.self) { try Self.rotation(lists, architecture: "llama") }
    }

    @Test(
        arguments: [
            ["rope_type": "llama3", "factor": 0], ["rope_type": "llama3", "low_freq_factor": 4, "high_freq_factor": 4],
            ["rope_type": "llama3", "original_max_position_embeddings": -1], ["rope_type": "linear"],
            ["rope_type": "linear", "factor": "2"], ["rope_type": "yarn", "factor": 2],
        ] as [JSONValue]) func valuesOutOfRangeAreDamaged(_ scaling: JSONValue)
    {
        let error = #expect(throws: ImportError.self) { try Self.rotation(["rope_scaling": scaling]) }
        #expect(error?.code == .damaged)
    }

    @Test func qwensVisionModelsDivideTheRotation() throws {
        let rotation = try Self.rotation(
            ["rope_scaling": ["type": "mrope", "mrope_section": [1, 2, 1]]], architecture: "qwen2vl")
        #expect(Self.value(rotation, "rope.dimension_sections") == .integers([1, 2, 1, 0]))
        for sections in [[1, 2, 2], [1, 3], [], [-1, 3, 2]] as [JSONValue] {
            #expect(throws: ImportError.self) {
                try Self.rotation(
                    ["rope_scaling": ["type": "mrope", "mrope_section": sections]], architecture: "qwen2vl")
            }
        }
    }

    @Test(arguments: [[1, 2, 3], [1, 2, 3, 0], [1, 2, 3, "4"], []] as [JSONValue])
    func listsOfAnotherLengthAreDamaged(_ list: JSONValue) {
        let scaling: JSONValue = ["type": "longrope", "long_factor": list, "short_factor": [1, 1, 1, 1]]
        let error = #expect(throws: ImportError.self) {
            try Self.rotation(["rope_scaling": scaling], architecture: "phi3")
        }
        #expect(error?.code == .damaged)
    }
}
