#if Llama
    import CLlama
    import HearthBase
    import HearthInference

    /// The tokens and pictures that an answer follows. It ends with text, from which the first token of the answer is chosen.
    struct Prompt {
        /// All of it as a ledger has it.
        private(set) var ledger: [llama_token]
        /// How much of the ledger comes before the beginning of the answer.
        private(set) var asked: Int
        /// The text its beginning of the answer stands in.
        let text: String
        /// How the answer calls the tools it was offered.
        let calls: CallFormat?
        /// The oldest messages were left out.
        let isTruncated: Bool
        /// The cells of the context that pictures take beyond their positions.
        let extraCells: Int
        /// Facts to tell the caller when the generation begins.
        var notices: [GenerationEvent] = []
        /// By the position where each begins, in order.
        private var pictures: [(start: Int, picture: any PromptPicture)]

        /// - Parameters:
        ///   - text: the same as text.
        ///   - opening: the tokens with which the template begins the answer.
        init(
            _ parts: [PromptPart], text: String, opening: [llama_token] = [], calls: CallFormat? = nil,
            isTruncated: Bool = false
        ) {
            var ledger: [llama_token] = []
            var pictures: [(start: Int, picture: any PromptPicture)] = []
            for part in parts {
                switch part {
                case .tokens(let tokens): ledger += tokens
                case .picture(let picture):
                    pictures.append((ledger.count, picture))
                    ledger += picture.ledger
                }
            }
            self.ledger = ledger
            // Where the two were cut into other tokens together, all of it counts as asked.
            asked = ledger.count - (ledger.suffix(opening.count) == opening[...] ? opening.count : 0)
            extraCells = pictures.reduce(0) { $0 + $1.picture.cells - $1.picture.ledger.count }
            self.pictures = pictures
            self.text = text
            self.calls = calls
            self.isTruncated = isTruncated
        }

        /// Its first `count` positions, without a picture that is not whole among them.
        func cut(to count: Int) -> Prompt {
            var front = self
            front.asked = reusable(count)
            front.ledger.removeSubrange(front.asked...)
            front.pictures.removeAll { $0.start >= front.asked }
            return front
        }

        /// What there is to compute at a position.
        enum Step {
            /// Tokens up to the end or to the next picture.
            case tokens(Range<Int>)
            case picture(any PromptPicture)
        }

        /// The step at a position before the end, which is not in the middle of a picture.
        func step(at position: Int) -> Step {
            guard let next = pictures.first(where: { $0.start >= position }) else {
                return .tokens(position..<ledger.count)
            }
            return next.start == position ? .picture(next.picture) : .tokens(position..<next.start)
        }

        /// Whether a picture begins at a position or after it.
        func hasPictures(from position: Int) -> Bool { pictures.last.map { $0.start >= position } ?? false }

        /// How many of the first `count` positions are of use: a picture is computed as a whole.
        func reusable(_ count: Int) -> Int {
            let cut = pictures.first { $0.start < count && count < $0.start + $0.picture.ledger.count }
            return cut?.start ?? count
        }
    }
#endif
