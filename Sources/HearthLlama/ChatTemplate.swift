#if Llama
    import CLlama
    import CLlamaShim
    import Foundation
    import HearthBase
    import HearthInference

    /// Owns the chat template of a model, which must outlive it.
    struct ChatTemplate: ~Copyable {
        private let raw: OpaquePointer

        /// Reads the template out of the model; ChatML if it has none.
        init(model: OpaquePointer) throws {
            var reason: UnsafeMutablePointer<CChar>?
            guard let templates = hearth_chat_templates_new(model, &reason) else {
                throw Self.failure(reason)
            }
            raw = templates
        }

        deinit { hearth_chat_templates_free(raw) }

        /// The prompt of a conversation, ready for the model's answer.
        borrowing func render(_ messages: [ChatMessage], enableThinking: Bool = true) throws -> String {
            // One arena of bytes holds all texts, so that pointers into it are valid together.
            var arena: [CChar] = []
            var spans: [(role: Int, content: Int, length: Int)] = []
            for message in messages {
                let role = arena.count
                arena += message.role.rawValue.utf8CString
                let content = arena.count
                let length = message.content.utf8.count
                arena += message.content.utf8.lazy.map { CChar(bitPattern: $0) }
                arena.append(0)
                spans.append((role, content, length))
            }
            var length = 0
            var reason: UnsafeMutablePointer<CChar>?
            let prompt = arena.withUnsafeBufferPointer { bytes -> UnsafeMutablePointer<CChar>? in
                guard let base = bytes.baseAddress else {
                    return hearth_chat_templates_apply(raw, nil, 0, true, enableThinking, &length, &reason)
                }
                let turns = spans.map {
                    hearth_chat_message(
                        role: base + $0.role, content: base + $0.content, content_length: $0.length)
                }
                return hearth_chat_templates_apply(raw, turns, turns.count, true, enableThinking, &length, &reason)
            }
            guard let prompt else { throw Self.failure(reason) }
            defer { hearth_string_free(prompt) }
            return String(decoding: UnsafeRawBufferPointer(start: prompt, count: length), as: UTF8.self)
        }

        private static func failure(_ reason: UnsafeMutablePointer<CChar>?) -> LLMError {
            let text = reason.map { String(cString: $0) } ?? "there is no memory for the chat template"
            hearth_string_free(reason)
            return LLMError(
                .templateFailed, "the chat template failed: \(text)",
                context: ErrorContext(
                    remedy: "Check the order of the messages; many models accept one system message at the start only.")
            )
        }
    }
#endif
