import HearthCatalog
import HearthDelivery

extension NearNames {
    /// At most three similar words, the most similar first.
    static func words(_ word: String, among words: [String]) -> [String] {
        Array(of(words, to: word) { $0 }.prefix(3))
    }
}
