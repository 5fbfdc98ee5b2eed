/// A text written by others that is in the context of an answer: a web page, a contact, an invitation.
package struct OutsideText: Sendable, Hashable, Codable {
    /// Where the text is from, such as `web page example.org`.
    package var source: String
    package var text: String

    package init(source: String, text: String) {
        self.source = source
        self.text = text
    }
}

extension [OutsideText] {
    /// The names of the sources together, also for a record that is written with the texts in the context; `nil` for none.
    var sourceName: String? { RecordSource.joined(map(\.source)) }
}
