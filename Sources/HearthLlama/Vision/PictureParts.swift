#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// What a picture is cut into for a model: the tokens that frame it, and the parts that are encoded one by one.
    ///
    /// Unchecked because it owns a C handle: nothing changes it once it is made.
    final class PictureParts: @unchecked Sendable {
        enum Part: Sendable, Hashable {
            case text([llama_token])
            /// So many vectors; fewer positions than that where positions have sections.
            case picture(tokens: Int, positions: Int)
        }

        let raw: OpaquePointer
        let parts: [Part]
        /// The last of the parts that are encoded; `nil` of a picture that has none.
        var lastPicture: Int? {
            parts.lastIndex { if case .picture = $0 { true } else { false } }
        }

        /// Takes over the handle.
        init(_ raw: OpaquePointer) {
            self.raw = raw
            Handles.take(.pieces)
            parts = (0..<hearth_pieces_count(raw)).map { index in
                let piece = hearth_pieces_get(raw, index)
                guard !piece.is_picture else {
                    return .picture(tokens: piece.token_count, positions: Int(piece.position_count))
                }
                return .text(Array(UnsafeBufferPointer(start: piece.tokens, count: piece.token_count)))
            }
        }

        deinit {
            hearth_pieces_free(raw)
            Handles.give(.pieces)
        }
    }
#endif
