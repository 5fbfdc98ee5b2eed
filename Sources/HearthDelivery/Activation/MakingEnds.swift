/// What the ends of processes in the making of an artefact say of it. A value.
///
/// What ends the engine's own code does so at the same place each time. An end before a place that another process has got past was
/// something else: a person's kill, a cut of the power, a system that needed the memory. So only those at the furthest place
/// count; what ends processes here and there all the same is given up after more of them.
struct MakingEnds: Sendable, Hashable {
    /// The ends at the furthest place after which something is not made again.
    static let allowedAtOnePlace = Probation.uncleanEndsAllowed
    /// The same wherever they were.
    static let allowedAnywhere = 5

    /// How far each process came, in hundredths.
    private let places: [Int]

    /// - Parameter marks: what they left of one artefact; one that began several times ended once.
    init(_ marks: [ActivityMark]) {
        // Marks of earlier versions do not say where: at the beginning, as far as anybody knows.
        places = Dictionary(grouping: marks, by: \.process).values.map { $0.map { $0.reached ?? 0 }.max() ?? 0 }
    }

    /// What speaks against making it, as the end of a sentence; `nil` for nothing.
    /// - Parameter isRefused: whether somebody has it made once more that was refused before: one more end is enough then.
    func objection(isRefused: Bool) -> String? {
        guard let furthest = places.max() else { return nil }
        if isRefused { return "the program ended again while it was made" }
        let ends = places.count { $0 == furthest }
        if ends >= Self.allowedAtOnePlace {
            return "the program ended \(ends) times while it was made\(furthest > 0 ? ", at \(furthest) % of it" : "")"
        }
        return places.count >= Self.allowedAnywhere ? "the program ended \(places.count) times while it was made" : nil
    }
}
