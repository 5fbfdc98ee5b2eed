import HearthBase

/// The quantization that an MLX model's configuration declares.
struct Quantization: Sendable, Hashable {
    /// The form of a tensor's groups.
    enum Mode: String, Sendable { case affine, mxfp4 }

    /// The quantization of a tensor.
    struct Form: Sendable, Hashable {
        let mode: Mode
        let bits: Int
        let groupSize: Int
    }

    /// The form of tensors without an entry of their own.
    let form: Form
    /// The forms of single tensors by their names without `.weight`.
    let entries: [String: Form]

    /// Reads the declaration, `nil` if the model is not quantized.
    /// - Throws: ``ImportError`` with `incompatible` for other modes, bits and groups, and for quantizations that are not
    ///   MLX's; with `damaged` for values that are none.
    init?(_ configuration: ModelConfiguration) throws(ImportError) {
        if let foreign = configuration["quantization_config"], let method = foreign["quant_method"]?.string {
            throw .incompatible(
                "weights quantized with \(method.quoted) cannot be imported", file: ModelConfiguration.fileName,
                field: "quantization_config.quant_method", expected: "MLX's quantization, or bf16, fp16, fp32",
                found: method, remedy: "Choose the model's release without quantization, or one in GGUF form.")
        }
        let key = configuration["quantization"] == nil ? "quantization_config" : "quantization"
        guard let value = configuration[key] else { return nil }
        guard let members = value.members else { throw configuration.damaged(key, "a value is no object", value) }
        form = try Self.form(value, key, configuration, mode: nil)
        var entries: [String: Form] = [:]
        for (name, entry) in members {
            switch entry {
            case .object: entries[name] = try Self.form(entry, "\(key).\(name)", configuration, mode: form.mode)
            // `false`: the tensor is not quantized; `true`: it is like the others. Its own numbers show which.
            case .boolean, .number, .string, .null: continue
            case .array: throw configuration.damaged("\(key).\(name)", "a value is a list", entry)
            }
        }
        self.entries = entries
    }

    private static func form(
        _ value: JSONValue, _ field: String, _ configuration: ModelConfiguration, mode other: Mode?
    ) throws(ImportError) -> Form {
        func refused(_ what: String, _ key: String, _ expected: String) -> ImportError {
            .incompatible(
                "weights quantized with \(what) cannot be imported", file: ModelConfiguration.fileName,
                field: "\(field).\(key)", expected: expected, found: value[key]?.kind)
        }
        var mode = other ?? .affine
        if let name = value["mode"], name != .null {
            guard let known = name.string.flatMap(Mode.init) else {
                throw refused("MLX's mode \(name.string ?? name.kind)", "mode", "affine or mxfp4")
            }
            mode = known
        }
        guard let bits = value["bits"]?.unsigned.flatMap({ Int(exactly: $0) }),
            let group = value["group_size"]?.unsigned.flatMap({ Int(exactly: $0) })
        else { throw configuration.damaged(field, "bits or group_size is no whole number", value) }
        let form = Form(mode: mode, bits: bits, groupSize: group)
        if let problem = form.problem { throw refused(problem.what, problem.key, problem.expected) }
        return form
    }
}

extension Quantization.Form {
    /// The bits of MLX's affine groups that GGUF has a form for.
    static let affineBits: Set<Int> = [2, 3, 4, 5, 6, 8]
    /// The sizes of affine groups that are whole blocks of 32.
    static let affineGroups: Set<Int> = [32, 64, 128]

    /// The value that GGUF has no form for.
    var problem: (what: String, key: String, expected: String)? {
        switch mode {
        case .affine:
            if !Self.affineBits.contains(bits) { return ("\(bits) bits", "bits", "2, 3, 4, 5, 6 or 8") }
            if !Self.affineGroups.contains(groupSize) {
                return ("groups of \(groupSize)", "group_size", "32, 64 or 128")
            }
        case .mxfp4:
            if bits != 4 { return ("MXFP4 of \(bits) bits", "bits", "4") }
            if groupSize != 32 { return ("MXFP4 in groups of \(groupSize)", "group_size", "32") }
        }
        return nil
    }

    /// The form of GGUF.
    var storage: GGUFStorage {
        switch (mode, bits) {
        case (.mxfp4, _): .mxfp4
        case (.affine, ...4): .q4_1
        case (.affine, 5): .q5_1
        case (.affine, _): .q8_0
        }
    }
}
