import HearthDelivery

extension NearNames {
    /// At most three of the words that somebody may have meant, the nearest first.
    static func words(_ word: String, among words: [String]) -> [String] {
        Array(of(words, to: word) { $0 }.prefix(3))
    }
}
