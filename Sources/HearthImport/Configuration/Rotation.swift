import Foundation
import HearthBase

/// The rotation of positions: its base, and how it is stretched for long contexts.
struct Rotation: Sendable {
    /// The entries of the GGUF file, without the architecture's prefix.
    private(set) var facts: [(key: String, value: GGUFValue)] = []
    /// Tensors of factors by their names.
    private(set) var factors: [(name: String, values: [Float])] = []
    /// Differences to the original, for people.
    private(set) var notes: [String] = []

    /// Reads `rope_theta`, `rope_scaling` and `rope_parameters`.
    /// - Throws: ``ImportError`` with `incompatible` for a kind that the engine does not compute, with `damaged` for
    ///   values out of range.
    init(
        _ configuration: ModelConfiguration, _ dimensions: Dimensions, architecture: String
    ) throws(ImportError) {
        let key = configuration["rope_parameters"] == nil ? "rope_scaling" : "rope_parameters"
        let declared = configuration[key]
        let scaling = Scaling(configuration, key, declared?["full_attention"] ?? declared ?? .object([:]))
        let base =
            try configuration["rope_theta"] == nil
            ? scaling.positive("rope_theta", default: architecture == "gemma3" ? 1e6 : 1e4)
            : configuration.positive("rope_theta")
        facts.append(("rope.freq_base", .float32(Float(base))))
        if architecture == "gemma3" {
            let local = Scaling(configuration, key, declared?["sliding_attention"] ?? .object([:]))
            let other = try configuration.positive("rope_local_base_freq", default: 1e4)
            let value = try local.positive("rope_theta", default: other)
            facts.append(("rope.freq_base_swa", .float32(Float(value))))
        }
        let part = try partial(configuration, scaling)
        let rotated = Int(part * Double(dimensions.head))
        guard part == 1 || architecture == "phi3" else {
            throw configuration.unsupported("partial_rotary_factor", "a partial rotation")
        }
        guard rotated > 0, rotated.isMultiple(of: 2) else {
            throw configuration.damaged("partial_rotary_factor", "an odd number of values is rotated")
        }
        facts.append(("rope.dimension_count", .uint32(UInt32(rotated))))
        if architecture == "qwen2vl" { try readSections(scaling, rotated: rotated) }
        switch scaling.kind {
        case "default", "none", "": break
        case "mrope" where architecture == "qwen2vl": break
        case "dynamic":
            notes.append("Positions past the trained context are not stretched (rope_scaling \"dynamic\").")
        case "linear": try readLinear(scaling)
        case "llama3": try readLlama3(scaling, base: base, rotated: rotated)
        case "yarn": try readYarn(scaling)
        case "longrope", "su":
            guard architecture == "phi3" else { throw scaling.unsupported }
            try readLong(scaling, configuration, dimensions, rotated: rotated)
        default: throw scaling.unsupported
        }
    }

    private func partial(_ configuration: ModelConfiguration, _ scaling: Scaling) throws(ImportError) -> Double {
        let other = try scaling.positive("partial_rotary_factor", default: 1)
        let part = try configuration.positive("partial_rotary_factor", default: other)
        guard part <= 1 else { throw configuration.damaged("partial_rotary_factor", "a value is out of range") }
        return part
    }

    /// The pairs that are rotated by time, height and width.
    private mutating func readSections(_ scaling: Scaling, rotated: Int) throws(ImportError) {
        let sections = (scaling.value["mrope_section"]?.items ?? []).compactMap(\.unsigned)
        guard sections.count == 3, sections.saturatedSum == rotated / 2 else {
            throw scaling.damaged("mrope_section", "a list does not have three parts of the rotation")
        }
        facts.append(("rope.dimension_sections", .integers(sections.map { Int32($0) } + [0])))
    }

    private mutating func readLinear(_ scaling: Scaling) throws(ImportError) {
        facts.append(("rope.scaling.type", .string("linear")))
        facts.append(("rope.scaling.factor", .float32(Float(try scaling.positive("factor")))))
    }

    private mutating func readYarn(_ scaling: Scaling) throws(ImportError) {
        facts.append(("rope.scaling.type", .string("yarn")))
        facts.append(("rope.scaling.factor", .float32(Float(try scaling.positive("factor")))))
        let original = try scaling.integer("original_max_position_embeddings")
        facts.append(("rope.scaling.original_context_length", .uint32(UInt32(original))))
        let names = [
            ("extrapolation_factor", "ext"), ("attention_factor", "attn"), ("beta_fast", "beta_fast"),
            ("beta_slow", "beta_slow"),
        ]
        for (source, target) in names where scaling.value[source] != nil && scaling.value[source] != .null {
            let key = target.hasPrefix("beta") ? target : "\(target)_factor"
            facts.append(("rope.scaling.yarn_\(key)", .float32(Float(try scaling.positive(source)))))
        }
    }

    /// Llama 3's stretching: factors for each pair of values, by the length of its wave.
    private mutating func readLlama3(_ scaling: Scaling, base: Double, rotated: Int) throws(ImportError) {
        let factor = try scaling.positive("factor", default: 8)
        let low = try scaling.positive("low_freq_factor", default: 1)
        let high = try scaling.positive("high_freq_factor", default: 4)
        let original = Double(try scaling.integer("original_max_position_embeddings", default: 8192))
        guard high > low else { throw scaling.damaged("high_freq_factor", "a value is out of range") }
        let values = stride(from: 0, to: rotated, by: 2).map { index -> Float in
            let wave = 2 * Double.pi * pow(base, Double(index) / Double(rotated))
            if wave < original / high { return 1 }
            if wave > original / low { return Float(factor) }
            let share = (original / wave - low) / (high - low)
            return Float(1 / ((1 - share) / factor + share))
        }
        factors.append(("rope_freqs.weight", values))
    }

    /// Phi's stretching: two lists of factors, for short and for long contexts.
    private mutating func readLong(
        _ scaling: Scaling, _ configuration: ModelConfiguration, _ dimensions: Dimensions, rotated: Int
    ) throws(ImportError) {
        let other = try configuration.integer("original_max_position_embeddings", in: 2...1 << 28, default: 4096)
        let original = try scaling.integer("original_max_position_embeddings", default: other)
        let scale = Double(dimensions.context) / Double(original)
        let attention = scale > 1 ? (1 + log(scale) / log(Double(original))).squareRoot() : 1
        facts.append(("rope.scaling.original_context_length", .uint32(UInt32(original))))
        facts.append(("rope.scaling.attn_factor", .float32(Float(attention))))
        for (source, target) in [("long_factor", "rope_factors_long"), ("short_factor", "rope_factors_short")] {
            let numbers = (scaling.value[source]?.items ?? []).compactMap(\.positive)
            guard numbers.count == rotated / 2, scaling.value[source]?.items?.count == numbers.count else {
                throw scaling.damaged(source, "a list has another number of factors than the rotation has pairs")
            }
            factors.append(("\(target).weight", numbers.map(Float.init)))
        }
    }
}

/// The object `rope_scaling` or `rope_parameters`.
private struct Scaling {
    let configuration: ModelConfiguration
    let key: String
    let value: JSONValue

    init(_ configuration: ModelConfiguration, _ key: String, _ value: JSONValue) {
        (self.configuration, self.key, self.value) = (configuration, key, value)
    }

    /// The kind of stretching, by both of its names.
    var kind: String { value["rope_type"]?.string ?? value["type"]?.string ?? "" }

    var unsupported: ImportError {
        configuration.unsupported("\(key).rope_type", "the rotation \(kind.quoted)")
    }

    func positive(_ name: String, default other: Double? = nil) throws(ImportError) -> Double {
        guard let member = value[name], member != .null else {
            guard let other else { throw damaged(name, "a value is missing") }
            return other
        }
        guard let number = member.positive else { throw damaged(name, "a value is out of range") }
        return number
    }

    func integer(_ name: String, default other: Int? = nil) throws(ImportError) -> Int {
        let number = try positive(name, default: other.map(Double.init))
        guard number >= 2, number <= Double(1 << 28) else { throw damaged(name, "a value is out of range") }
        return Int(number)
    }

    func damaged(_ name: String, _ problem: String) -> ImportError {
        configuration.damaged("\(key).\(name)", problem, value[name])
    }
}
