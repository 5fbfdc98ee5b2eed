import HearthBase
import HearthCatalog
import HearthDelivery

/// The rows of the library and its selected model, without side effects.
package struct LibraryState: Sendable, Hashable {
    /// Every model, sorted by role and name; state changes don't move a row.
    package private(set) var rows: [LibraryRow] = []
    /// The selected model, `nil` without one.
    package private(set) var selected: Family?
    /// The default model of the settings, as the user wrote it: `family[@version][:variant]`.
    package private(set) var defaultModel: String?
    private var hasChosen = false
    private let recommended: Family?

    /// An empty library.
    /// - Parameter recommended: the app's recommendation; by default the publisher's, else the text model with the highest
    ///   memory requirement of those that fit this device.
    package init(recommended: Family? = nil) { self.recommended = recommended }

    /// The row of a model.
    package subscript(_ family: Family) -> LibraryRow? { rows.first { $0.id == family } }

    /// The selected model's release on this device.
    package var selectedModel: ModelInfo? { selected.flatMap { self[$0]?.local?.model } }

    /// Whether a model for that role is on the device and can run; features that need one are off otherwise.
    package func hasModel(for role: ModelRole) -> Bool {
        rows.contains { $0.canRun && ($0.local?.model.role == role || role == .vision && $0.model.seesImages) }
    }

    // MARK: Events

    /// Updates the rows from the models on this device.
    package mutating func list(local models: [LocalModel]) {
        let found = Dictionary(models.map { ($0.model.id, $0) }, uniquingKeysWith: { first, _ in first })
        for family in found.keys where self[family] == nil { add(found[family]?.model) }
        for index in rows.indices { rows[index].take(.local(found[rows[index].id])) }
        settle()
    }

    /// Updates the rows from the sources' offers.
    /// - Parameters:
    ///   - noUpdates: why families have no update.
    ///   - isComplete: whether every source answered; if not, earlier offers of missing models stay.
    package mutating func list(
        offered models: [OfferedModel], noUpdates: [Family: NoUpdate] = [:], isComplete: Bool = true
    ) {
        let found = Dictionary(models.map { ($0.model.id, $0) }, uniquingKeysWith: { first, _ in first })
        for family in found.keys where self[family] == nil { add(found[family]?.model) }
        for index in rows.indices where isComplete || found[rows[index].id] != nil {
            rows[index].take(.offered(found[rows[index].id]))
        }
        for index in rows.indices where isComplete || noUpdates[rows[index].id] != nil {
            rows[index].take(.unchanged(noUpdates[rows[index].id]))
        }
        settle()
    }

    /// Starts a download, also of a model without a row.
    package mutating func download(_ model: ModelInfo) -> [LibraryRowEffect] {
        if self[model.id] == nil { rows.append(LibraryRow(model)) }
        return take(.download, of: model.id)
    }

    /// Passes an event to a model's row; without a row there are no effects.
    @discardableResult
    package mutating func take(_ event: LibraryRowEvent, of family: Family) -> [LibraryRowEffect] {
        guard let index = rows.firstIndex(where: { $0.id == family }) else { return [] }
        let effects = rows[index].take(event)
        settle()
        return effects
    }

    /// Selects a model that is on the device and can run.
    /// - Returns: `false` if the model is not on the device, is being deleted or cannot run.
    package mutating func select(_ family: Family) -> Bool {
        guard self[family]?.canRun == true else { return false }
        selected = family
        hasChosen = true
        settle()
        return true
    }

    /// Sets the default model, which is selected unless the user chose another.
    package mutating func setDefault(_ text: String?) {
        defaultModel = text
        settle()
    }

    /// The family of ``defaultModel``.
    package var defaultFamily: Family? {
        defaultModel.flatMap { Family($0.prefix { $0 != "@" && $0 != ":" }) }
    }

    // MARK: Consistency

    private mutating func add(_ model: ModelInfo?) {
        guard let model else { return }
        rows.append(LibraryRow(model))
    }

    private mutating func settle() {
        // Remove rows without anything to show.
        rows.removeAll { $0.local == nil && $0.offer == nil && $0.download == .idle && !$0.isBeingDeleted }
        rows.sort {
            ($0.model.role.place, $0.model.displayName, $0.id) < ($1.model.role.place, $1.model.displayName, $1.id)
        }
        chooseIfNeeded()
        let best = bestFamily
        for index in rows.indices {
            rows[index].isSelected = rows[index].id == selected
            rows[index].isDefault = rows[index].id == defaultFamily
            rows[index].isRecommended = rows[index].id == best
        }
    }

    /// Selects the user's choice while it is usable, else the default model, else the only text model.
    private mutating func chooseIfNeeded() {
        if let selected, hasChosen, self[selected]?.canRun == true { return }
        hasChosen = false
        if let family = defaultFamily, self[family]?.canRun == true {
            selected = family
            return
        }
        let usable = rows.filter { $0.canRun && $0.model.role == .text }
        selected = usable.count == 1 ? usable[0].id : nil
    }

    private var bestFamily: Family? {
        if let recommended { return recommended }
        // A publisher's recommendation comes before one by size, also of a model that no source lists any more.
        let chosen = rows.filter { row in
            guard row.model.isRecommended, row.model.role == .text else { return false }
            return row.local == nil ? row.offer.map { $0.objection == nil } ?? false : row.canRun
        }
        if let best = chosen.max(by: Self.needsLess) { return best.id }
        let candidates = rows.filter { $0.model.role == .text && $0.offer != nil && $0.offer?.objection == nil }
        // A recommendation needs at least two candidates.
        guard candidates.count > 1 else { return nil }
        return candidates.max(by: Self.needsLess)?.id
    }

    private static func needsLess(_ left: LibraryRow, _ right: LibraryRow) -> Bool {
        (left.model.requiredMemory, left.id) < (right.model.requiredMemory, right.id)
    }
}

extension ModelRole {
    fileprivate var place: Int {
        switch self {
        case .text: 0
        case .vision: 1
        case .classifier: 2
        }
    }
}
