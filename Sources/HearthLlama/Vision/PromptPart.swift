#if Llama
import CLlama
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

extension PromptPicture {
    var cells: Int { ledger.count }
    var wasEncoded: Bool { false }
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
#endif
