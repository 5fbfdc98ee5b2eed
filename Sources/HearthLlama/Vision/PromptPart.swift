#if Llama
import CLlama
import CLlamaShim
import HearthBase
import HearthInference

/// A part of a prompt that is no text. It is computed as a whole into the next positions of a sequence.
protocol PromptPicture: AnyObject {
    /// The numbers for the picture in a ledger, one for each of its positions, at least one. They are below 0,
    /// where no token is, and only the same picture has the same numbers.
    var ledger: [llama_token] { get }

    /// The number of cells; more than positions where positions have sections for height and width.
    var cells: Int { get }

    /// Whether the last computation encoded the picture first.
    var wasEncoded: Bool { get }

    /// Computes the picture at the next position of the sequence. Afterwards the context holds as many more
    /// positions as the ledger is long.
    /// - Returns: the status of `llama_decode`.
    /// - Throws: if the picture cannot be encoded; the context is then unchanged.
    func compute(in context: OpaquePointer, at position: Int, of sequence: Int) throws -> Int32
}

/// A piece of a prompt.
enum PromptPart {
    case tokens([llama_token])
    case picture(any PromptPicture)

    /// The number of cells that the part needs.
    var cells: Int {
        switch self {
        case .tokens(let tokens): tokens.count
        case .picture(let picture): picture.cells
        }
    }
}

/// A part of a picture in a prompt.
final class PlacedPicture: PromptPicture {
    private let image: ChatImage
    private let projector: Projector
    private let part: Int
    private let positions: Int
    let cells: Int
    private(set) var wasEncoded = false

    /// Makes a part of a prompt.
    /// - Parameters:
    ///   - part: the number of the picture's part, which has `tokens` vectors in `positions` positions.
    init(_ image: ChatImage, part: Int, tokens: Int, positions: Int, projector: Projector) {
        self.image = image
        self.part = part
        self.positions = positions
        self.projector = projector
        cells = tokens
    }

    private(set) lazy var ledger: [llama_token] =
        PictureTokens.tokens(of: image.digest, part: part, count: positions)

    func compute(in context: OpaquePointer, at position: Int, of sequence: Int) throws -> Int32 {
        let encoded = try projector.encoded(image, part: part)
        wasEncoded = encoded.isNew
        return projector.decode(
            encoded.vectors, of: image, part: part, in: context, position: position, sequence: sequence)
    }
}

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
