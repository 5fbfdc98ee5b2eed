import HearthBase
import HearthDelivery

/// All models of the library and which of them is used: a value, like its rows.
public struct LibraryState: Sendable, Hashable {
    /// Every model, by what it is for and then by name; a row keeps its place when its state changes.
    public private(set) var rows: [LibraryRow] = []
    /// The model that is used, `nil` while there is none.
    public private(set) var selected: Family?
    /// The model of the settings, as the user wrote it: `family[@version][:variant]`.
    public private(set) var defaultModel: String?
    private var hasChosen = false
    private let recommended: Family?

    /// An empty library.
    /// - Parameter recommended: what the app recommends; unless given, the text model that needs the most memory of those
    ///   that fit this device.
    public init(recommended: Family? = nil) { self.recommended = recommended }

    /// The row of a model.
    public subscript(_ family: Family) -> LibraryRow? { rows.first { $0.id == family } }

    /// The model that is used.
    public var selectedModel: ModelInfo? { selected.flatMap { self[$0]?.local?.model } }

    /// Whether a model for that purpose is on the device: features that need one are off otherwise.
    public func hasModel(for role: ModelRole) -> Bool {
        rows.contains { $0.isUsable && ($0.local?.model.role == role || role == .vision && $0.model.seesImages) }
    }

    // MARK: What happens

    /// Takes note of what is on this device.
    public mutating func list(local models: [LocalModel]) {
        let found = Dictionary(models.map { ($0.model.id, $0) }, uniquingKeysWith: { first, _ in first })
        for family in found.keys where self[family] == nil { add(found[family]?.model) }
        for index in rows.indices { rows[index].take(.local(found[rows[index].id])) }
        settle()
    }

    /// Takes note of what the sources offer.
    /// - Parameters:
    ///   - noUpdates: why what is here stays as it is.
    ///   - isComplete: whether all of them were asked; else what others said before stays.
    public mutating func list(
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

    /// Somebody wants a model, perhaps one that was not listed.
    public mutating func download(_ model: ModelInfo) -> [LibraryRowEffect] {
        if self[model.id] == nil { rows.append(LibraryRow(model)) }
        return take(.download, of: model.id)
    }

    /// Passes an event to a model's row; a model without one has no effects.
    @discardableResult
    public mutating func take(_ event: LibraryRowEvent, of family: Family) -> [LibraryRowEffect] {
        guard let index = rows.firstIndex(where: { $0.id == family }) else { return [] }
        let effects = rows[index].take(event)
        settle()
        return effects
    }

    /// Chooses a model that is on the device.
    /// - Returns: whether it is.
    public mutating func select(_ family: Family) -> Bool {
        guard self[family]?.isUsable == true else { return false }
        selected = family
        hasChosen = true
        settle()
        return true
    }

    /// Takes note of the model of the settings. Nobody having chosen another one, it is the one used.
    public mutating func setDefault(_ text: String?) {
        defaultModel = text
        settle()
    }

    /// The family of the settings' model.
    public var defaultFamily: Family? {
        defaultModel.flatMap { Family($0.prefix { $0 != "@" && $0 != ":" }) }
    }

    // MARK: Keeping it consistent

    private mutating func add(_ model: ModelInfo?) {
        guard let model else { return }
        rows.append(LibraryRow(model))
    }

    private mutating func settle() {
        // A model that is neither here nor on offer, and has nothing to tell, is none of the library's.
        rows.removeAll { $0.local == nil && $0.offer == nil && $0.download == Download() && !$0.isBeingDeleted }
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

    /// The user's choice as long as it is there, else the settings' model, else the only one for text.
    private mutating func chooseIfNeeded() {
        if let selected, hasChosen, self[selected]?.isUsable == true { return }
        hasChosen = false
        if let family = defaultFamily, self[family]?.isUsable == true {
            selected = family
            return
        }
        let usable = rows.filter { $0.isUsable && $0.model.role == .text }
        selected = usable.count == 1 ? usable[0].id : nil
    }

    private var bestFamily: Family? {
        if let recommended { return recommended }
        let candidates = rows.filter { $0.model.role == .text && $0.offer != nil && $0.offer?.objection == nil }
        // With one there is nothing to recommend it over.
        guard candidates.count > 1 else { return nil }
        return candidates.max { ($0.model.requiredMemory, $0.id) < ($1.model.requiredMemory, $1.id) }?.id
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
