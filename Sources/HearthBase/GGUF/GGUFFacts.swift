extension GGUFHeader {
    /// The network's architecture, such as `llama`; its own keys begin with it.
    package var architecture: String? { metadata["general.architecture"]?.text }

    /// The model's name for people.
    package var name: String? { metadata["general.name"]?.text }

    /// The license, as an SPDX identifier if the publisher gave one.
    package var license: String? { metadata["general.license"]?.text }

    /// The model's trained context in tokens.
    package var contextLength: Int? {
        architecture.flatMap { metadata["\($0).context_length"]?.integer }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The publisher's number for the dominant storage type (`llama_ftype` in llama.h).
    package var fileType: Int? { metadata["general.file_type"]?.integer }

    /// The usual short name of ``fileType``, lower-case, such as `q4_1`.
    package var quantization: String? { fileType.flatMap { Self.fileTypes[$0] } }

    /// Whether the file contains a template that turns a conversation into a prompt.
    package var hasChatTemplate: Bool {
        switch metadata["tokenizer.chat_template"] {
        case .string(let template): !template.isEmpty
        case .longString: true
        default: false
        }
    }

    /// The number of files of a split model; 1 for a single file.
    package var splitCount: Int { max(1, metadata["split.count"]?.integer ?? 1) }

    /// The number of this file, counted from 0.
    package var splitIndex: Int { max(0, metadata["split.no"]?.integer ?? 0) }

    private static let fileTypes: [Int: String] = [
        0: "f32", 1: "f16", 2: "q4_0", 3: "q4_1", 7: "q8_0", 8: "q5_0", 9: "q5_1", 10: "q2_k", 11: "q3_k_s",
        12: "q3_k_m", 13: "q3_k_l", 14: "q4_k_s", 15: "q4_k_m", 16: "q5_k_s", 17: "q5_k_m", 18: "q6_k", 19: "iq2_xxs",
        20: "iq2_xs", 21: "q2_k_s", 22: "iq3_xs", 23: "iq3_xxs", 24: "iq1_s", 25: "iq4_nl", 26: "iq3_s", 27: "iq3_m",
        28: "iq2_s", 29: "iq2_m", 30: "iq4_xs", 31: "iq1_m", 32: "bf16", 36: "tq1_0", 37: "tq2_0", 38: "mxfp4",
        39: "nvfp4", 40: "q1_0", 41: "q2_0",
    ]
}
