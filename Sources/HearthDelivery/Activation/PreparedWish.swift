/// What of all that was made of a release is still opened, as far as this program can tell. A value.
struct PreparedWish: Sendable {
    /// What is made of it now; `nil` where it is best used as it is, or nobody says.
    var recipe: PreparationRecipe?
    /// Who says so; `nil` where nobody does.
    var preparer: (any ReleasePreparer)?

    /// Whether an artefact that was made from what the release holds may still be opened: where nothing is made of it now, by another
    /// program with an engine of its own.
    func keeps(_ record: PreparedRecord) -> Bool {
        if let recipe { return record.isMade(by: recipe, of: record.source) }
        return preparer?.speaks(for: record.recipe.engine) != true
    }
}
