import HearthBase

/// A token that is cut out of a text before the rules of the vocabulary apply.
struct AddedToken: Sendable {
    let text: TokenText
    let id: Int
    /// A control token, such as `<|im_end|>`, that no answer shows.
    let isSpecial: Bool
    /// Blanks before the token belong to it.
    var stripsLeft = false
    /// Blanks behind the token belong to it.
    var stripsRight = false
    /// The token is only cut out where a word begins and ends.
    var isWholeWord = false

    init(text: TokenText, id: Int, isSpecial: Bool) {
        self.text = text
        self.id = id
        self.isSpecial = isSpecial
    }

    /// Reads an element of `added_tokens`, or with `id` a member of `added_tokens_decoder`.
    init(_ value: JSONValue, id: Int? = nil, name: String) throws(ImportError) {
        guard let content = value["content"]?.string, let id = id ?? value["id"]?.wholeNumber, id >= 0 else {
            throw .damaged("an added token has no content or no id", file: name)
        }
        self.init(text: TokenText(content), id: id, isSpecial: value["special"]?.flag ?? false)
        stripsLeft = value["lstrip"]?.flag ?? false
        stripsRight = value["rstrip"]?.flag ?? false
        isWholeWord = value["single_word"]?.flag ?? false
    }
}
