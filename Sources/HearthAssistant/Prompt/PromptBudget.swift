/// Chooses the sections that fit a number of tokens.
package struct PromptBudget: Sendable, Hashable {
    /// The most tokens of the sections together.
    package var tokens: Int

    package init(tokens: Int) { self.tokens = tokens }

    /// The tokens of all sections for a context window: a third, so that history and answer have room.
    package init(window: Int) { tokens = max(256, window / 3) }

    /// The sections that fit, in their order. Required ones always stay; of the others, those of the highest priority.
    /// A section that fits only in part keeps its first lines.
    package func fit(_ sections: [PromptSection], _ meter: TokenMeter) async -> [PromptSection] {
        var left = tokens
        var kept: [Int: PromptSection] = [:]
        let order = sections.indices.sorted { left, right in
            let (first, second) = (sections[left].priority, sections[right].priority)
            return first == second ? left < right : first > second
        }
        for index in order {
            let section = sections[index]
            let count = await meter.tokens(in: section.marked)
            if count <= left || section.priority == PromptSection.required {
                left -= count
                kept[index] = section
            } else if let part = await beginning(of: section, within: left, meter) {
                left -= part.tokens
                kept[index] = part.section
            }
        }
        return sections.indices.compactMap { kept[$0] }
    }

    /// The first lines of a section that fit; `nil` if not even one does.
    private func beginning(
        of section: PromptSection, within limit: Int, _ meter: TokenMeter
    ) async -> (section: PromptSection, tokens: Int)? {
        let lines = section.text.split(separator: "\n", omittingEmptySubsequences: false)
        var best: (section: PromptSection, tokens: Int)?
        var (low, high) = (1, lines.count - 1)
        while low <= high {
            let middle = (low + high) / 2
            var part = section
            part.text = lines.prefix(middle).joined(separator: "\n")
            let count = await meter.tokens(in: part.marked)
            if count <= limit {
                best = (part, count)
                low = middle + 1
            } else {
                high = middle - 1
            }
        }
        return best
    }
}
