#if Llama
import CLlama
import CLlamaShim
import HearthBase
import HearthInference

/// The tokens that frame a picture, and the picture's parts, which are encoded one by one.
///
/// Unchecked because it owns a C handle: nothing changes it after it is made.
final class PictureParts: @unchecked Sendable {
    enum Part: Sendable, Hashable {
        case text([llama_token])
        /// A part of the picture with its numbers of vectors and positions; fewer positions where those have sections.
        case picture(tokens: Int, positions: Int)
    }

    let raw: OpaquePointer
    let parts: [Part]
    /// The last part that is encoded; `nil` for a picture without such parts.
    var lastPicture: Int? {
        parts.lastIndex { if case .picture = $0 { true } else { false } }
    }

    /// Takes ownership of the handle.
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
