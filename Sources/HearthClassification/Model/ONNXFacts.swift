import HearthBase

/// The facts of an ONNX file (onnx.proto), read before an engine sees it.
struct ONNXFacts: Sendable, Hashable {
    /// The publisher's own entries (`metadata_props`).
    private(set) var metadata: [String: String] = [:]
    /// The names of the operators, with their domain if it is not ONNX's own.
    private(set) var operators: Set<String> = []

    /// The operators that compute with activations rounded to 8 bits, in order.
    var roundingOperators: [String] {
        operators.filter {
            let name = $0.split(separator: ".").last ?? ""
            return name.hasPrefix("QLinear") || Self.roundingNames.contains(String(name))
        }.sorted()
    }

    /// Those of ONNX, and of onnxruntime's own domain.
    private static let roundingNames: Set = [
        "QuantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "DynamicQuantizeMatMul",
        "MatMulIntegerToFloat", "QGemm", "QAttention",
    ]

    /// The largest model, in bytes: 512 MiB.
    static let maximumBytes = 512 << 20
    private static let maximumMetadataBytes = 1 << 20
    private static let maximumOperators = 1000
    /// Graphs within graphs: loops and branches.
    private static let maximumDepth = 8

    private var metadataBytes = 0

    /// Reads a model.
    /// - Parameter name: the file's name for messages.
    /// - Throws: `classifier-unreadable`; `classifier-unsupported` for weights outside the file.
    init(_ bytes: [UInt8], name: String) throws {
        // A file of another kind could be read as a few odd fields.
        if let kind = FileKind(beginning: bytes) { throw Self.unreadable(name, "it is \(kind.name)", kind.remedy) }
        var reader = ProtobufReader(bytes)
        var hasGraph = false
        var hasVersion = false
        do {
            try reader.fields(in: 0..<bytes.count) { reader, number, value in
                switch (number, value) {
                case (1, .integer(let version)): hasVersion = (1...1000).contains(version)
                case (7, .bytes(let range)):
                    hasGraph = true
                    try readGraph(&reader, range, depth: 0)
                case (14, .bytes(let range)): try readMetadata(&reader, range)
                default: break
                }
            }
        } catch let damage as ProtobufReader.Damage {
            throw Self.unreadable(name, damage.reason)
        } catch is ExternalWeights {
            throw ClassificationError(
                .unsupportedModel, "\(name) keeps its weights in another file",
                context: ErrorContext(
                    file: name, remedy: "The publisher must export the model as one file."))
        }
        guard hasGraph, hasVersion else { throw Self.unreadable(name, "it is no ONNX model") }
    }

    static func unreadable(_ name: String, _ reason: String, _ remedy: String? = nil) -> ClassificationError {
        ClassificationError(
            .unreadableModel, "\(name) cannot be read: \(reason)",
            context: ErrorContext(
                file: name, expected: "an ONNX model",
                remedy: remedy ?? "Give the path of a whole .onnx file, or fetch it again."))
    }

    private struct ExternalWeights: Error {}

    private mutating func readGraph(_ reader: inout ProtobufReader, _ range: Range<Int>, depth: Int) throws {
        guard depth < Self.maximumDepth else { throw ProtobufReader.Damage(reason: "its graphs are nested too deep") }
        try reader.fields(in: range) { reader, number, value in
            switch (number, value) {
            case (1, .bytes(let range)): try readNode(&reader, range, depth: depth)
            case (5, .bytes(let range)): try readTensor(&reader, range)
            default: break
            }
        }
    }

    private mutating func readNode(_ reader: inout ProtobufReader, _ range: Range<Int>, depth: Int) throws {
        var name = ""
        var domain = ""
        try reader.fields(in: range) { reader, number, value in
            switch (number, value) {
            case (4, .bytes(let range)): name = reader.text(range.prefix(64))
            case (7, .bytes(let range)): domain = reader.text(range.prefix(64))
            case (5, .bytes(let range)):
                try reader.fields(in: range) { reader, number, value in
                    switch (number, value) {
                    case (5, .bytes(let range)), (10, .bytes(let range)): try readTensor(&reader, range)
                    case (6, .bytes(let range)), (11, .bytes(let range)):
                        try readGraph(&reader, range, depth: depth + 1)
                    default: break
                    }
                }
            default: break
            }
        }
        guard operators.count < Self.maximumOperators else {
            throw ProtobufReader.Damage(reason: "it has more than \(Self.maximumOperators) operators")
        }
        operators.insert(domain.isEmpty || domain == "ai.onnx" ? name : "\(domain).\(name)")
    }

    /// Refuses a tensor whose numbers are in another file: a model could name any file of this machine.
    private func readTensor(_ reader: inout ProtobufReader, _ range: Range<Int>) throws {
        try reader.fields(in: range) { _, number, value in
            switch (number, value) {
            case (13, .bytes): throw ExternalWeights()
            case (14, .integer(let place)) where place != 0: throw ExternalWeights()
            default: break
            }
        }
    }

    private mutating func readMetadata(_ reader: inout ProtobufReader, _ range: Range<Int>) throws {
        metadataBytes += range.count
        guard metadataBytes <= Self.maximumMetadataBytes else {
            throw ProtobufReader.Damage(reason: "its metadata has more than \(Self.maximumMetadataBytes) bytes")
        }
        var key = ""
        var text = ""
        try reader.fields(in: range) { reader, number, value in
            switch (number, value) {
            case (1, .bytes(let range)): key = reader.text(range)
            case (2, .bytes(let range)): text = reader.text(range)
            default: break
            }
        }
        metadata[key] = text
    }
}
