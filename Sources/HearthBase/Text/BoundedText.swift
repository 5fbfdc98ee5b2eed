extension String {
    /// The text as one line of at most the given bytes, without characters that a terminal would act on.
    package func boundedLine(maximumBytes: Int = 512) -> String {
        var kept = UnicodeScalarView()
        var count = 0
        for scalar in unicodeScalars {
            let isControl = [.control, .format, .lineSeparator, .paragraphSeparator]
                .contains(scalar.properties.generalCategory)
            let shown: Unicode.Scalar = isControl ? " " : scalar
            count += UTF8.width(shown)
            guard count <= maximumBytes else { break }
            kept.append(shown)
        }
        return String(kept)
    }
}
