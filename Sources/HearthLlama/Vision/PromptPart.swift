#if Llama
    import CLlama
    import HearthBase
    import HearthInference

    /// Something in a prompt that is no text, computed as a whole into the next positions of a sequence.
    protocol PromptPicture: AnyObject {
        /// What stands for it in a ledger, one for each position it takes, at least one: numbers below 0, which no token has, and
        /// the same ones for the same picture only.
        var ledger: [llama_token] { get }

        /// The cells of the context it takes: more than positions where those have sections for height and width.
        var cells: Int { get }

        /// Whether the last computation had to encode it first.
        var wasEncoded: Bool { get }

        /// Computes it. The context has so many positions of the sequence, and as many more afterwards as the ledger is long.
        /// - Returns: what `llama_decode` returns.
        /// - Throws: when there is nothing to compute; the context is as it was.
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

        /// The cells of the context it takes.
        var cells: Int {
            switch self {
            case .tokens(let tokens): tokens.count
            case .picture(let picture): picture.cells
            }
        }
    }
#endif
