import HearthBase

/// What a model file says of itself.
struct ModelFacts: Sendable, Encodable {
    let name: String?
    let architecture: String?
    let quantization: String?
    let parameterCount: UInt64?
    let contextLength: Int?
    let license: String?
    let hasChatTemplate: Bool
    let tensorCount: UInt64
    let formatVersion: UInt32
    let sizeBytes: UInt64

    init(header: GGUFHeader, size: UInt64) {
        name = header.name
        architecture = header.architecture
        quantization = header.quantization
        parameterCount = header.tensors?.parameterCount
        contextLength = header.contextLength
        license = header.license
        hasChatTemplate = header.hasChatTemplate
        tensorCount = header.tensorCount
        formatVersion = header.version
        sizeBytes = size
    }

    /// The facts as lines of a table.
    var rows: [(String, String)] {
        var rows: [(String, String)] = []
        func add(_ name: String, _ value: String?) { if let value { rows.append((name, value)) } }
        add("name in the file", name)
        add("architecture", architecture)
        add("quantisation", quantization)
        add("parameters", parameterCount.map(Self.count))
        add("context", contextLength.map { "\($0) tokens" })
        add("licence", license)
        add("chat template", hasChatTemplate ? "yes" : "no")
        add("format", "GGUF version \(formatVersion), \(tensorCount) tensors")
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
