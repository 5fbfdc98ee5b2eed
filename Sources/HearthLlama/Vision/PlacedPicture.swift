#if Llama
import CLlama
import HearthBase
import HearthInference

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
#endif
