import Hearth
import HearthBase
import HearthInference

/// The words for a model's facts.
extension ModelFacts {
    /// The purpose of a model that does not answer.
    private var purpose: String? {
        if ranksTexts { return "ranking: it orders texts by their relevance, at /v1/rerank" }
        return isEncoderOnly ? "embeddings: it gives vectors of texts and does not answer" : nil
    }

    /// The facts as lines of a table.
    var rows: [(String, String)] {
        var rows: [(String, String)] = []
        func add(_ name: String, _ value: String?) { if let value { rows.append((name, value)) } }
        add("name in the file", name)
        add("architecture", architecture)
        add("quantization", quantization)
        add("parameters", parameterCount.map(Self.count))
        add("context", contextLength.map { "up to \($0) tokens" })
        add("license", license)
        add("made for", purpose)
        add("chat template", isEncoderOnly ? nil : hasChatTemplate ? "yes" : "no")
        add("format", "GGUF version \(formatVersion), \(tensorCount) tensors")
        add("imported", imported)
        for note in importNotes ?? [] { add("imported", note) }
        add("memory needed", memory?.text)
        return rows
    }

    /// The facts on one line.
    var sentence: String {
        let facts = [architecture, quantization, parameterCount.map { "\(Self.count($0)) parameters" }]
        return "a GGUF file of version \(formatVersion), \(ByteCount(sizeBytes)), "
            + (facts.compactMap { $0 } + ["\(tensorCount) tensors"]).joined(separator: ", ")
    }

    /// `135 million`, `1.5 billion`.
    private static func count(_ number: UInt64) -> String {
        if number >= 1_000_000_000 { return "\(Double((number + 50_000_000) / 100_000_000) / 10) billion" }
        if number >= 1_000_000 { return "\((number + 500_000) / 1_000_000) million" }
        return "\(number)"
    }
}

extension MemoryFacts {
    /// The facts on one line.
    var text: String {
        guard let hostBytes, let availableBytes, let contextLength, let weightsBytes, let cacheBytes, let computeBytes
        else { return problem ?? "unknown" }
        let type = cacheType.flatMap { $0 == CacheType.f16.rawValue ? nil : " as \($0)" } ?? ""
        let projector = projectorBytes.map { ", projector \(ByteCount($0))" } ?? ""
        let made = quantizedTo.map { "quantized to \($0.uppercased()) on this device" }
        let attention = flashAttention == FlashAttention.off.rawValue ? "flash attention off" : nil
        let notes = ([made, attention, gpuText].compactMap { $0 } + (compromises ?? [])).map { "; \($0)" }.joined()
        return
            "\(ByteCount(hostBytes)) of \(ByteCount(availableBytes)) with a context of \(contextLength) tokens: "
            + "weights \(ByteCount(weightsBytes)), cache \(ByteCount(cacheBytes))\(type), "
            + "working memory \(ByteCount(computeBytes))\(projector)\(notes)"
    }
}
