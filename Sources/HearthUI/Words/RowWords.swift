import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTransfer

/// The texts of a model in a list.
extension Words {
    /// The state in a few words. The figures of a download are those of its progress view.
    func state(_ row: LibraryRow) -> String {
        if row.isBeingDeleted { return self("state.deleting") }
        if case .downloaded = row.state, row.badges.contains(.bundled) { return self("state.bundled") }
        if row.download.isActive { return phase(row) }
        return state(row.state)
    }

    /// The state of a model without a row.
    func state(_ state: ModelState) -> String {
        switch state {
        case .notDownloaded: self("state.not-downloaded")
        case .waiting(let hold): waiting(hold)
        case .downloading: self("phase.downloading")
        case .downloaded: self("state.downloaded")
        case .updateAvailable(let version): self("state.update", ["version": version.description])
        case .failed(let failure): sentence(of: failure)
        case .incompatible(let reason): sentence(of: reason.failure)
        }
    }

    /// The phase of a download: `Downloading`, `Verifying`, `Waiting: Wi-Fi required`.
    func phase(_ row: LibraryRow) -> String {
        if case .retrying(let attempt) = row.download {
            if case .retrying(_, let limit)? = row.reading?.state {
                return self("phase.retrying", ["attempt": "\(attempt)", "attempts": "\(limit)"])
            }
            return self("phase.again")
        }
        if case .waiting(let hold) = row.download { return waiting(hold) }
        guard let reading = row.reading else { return self("phase.downloading") }
        let word = reading.state.word
        if reading.repeatedBytes > 0, ["connecting", "downloading"].contains(word) { return self("phase.again") }
        return self.word("phase", word)
    }

    private func waiting(_ hold: DownloadHold) -> String {
        if hold == .paused { return self("phase.paused") }
        return self("phase.waiting-for", ["reason": word("phase.hold", hold.rawValue)])
    }

    /// The bytes on the device, such as `812.0 MB of 1.9 GB`; the size alone before the first reading.
    func bytes(_ row: LibraryRow) -> String {
        guard let reading = row.reading else { return bytes(row.model.size) }
        return self(
            "download.bytes",
            ["done": bytes(reading.presentBytes), "total": bytes(reading.totalBytes ?? row.model.size)])
    }

    /// The rate and the time left, such as `3.2 MB/s, 8 seconds left`; `nil` while they are not known.
    func pace(_ row: LibraryRow) -> String? {
        guard let reading = row.reading, let rate = reading.bytesPerSecond, rate >= 1, rate < 1e15 else { return nil }
        let left = reading.secondsLeft.map { self("download.left", ["time": seconds($0)]) }
        return ["\(bytes(UInt64(rate)))/s", left].compactMap(\.self).joined(separator: ", ")
    }

    /// The action of a tap on a model's card; its name for a card that a tap does nothing with.
    func action(_ model: ModelInfo, _ state: ModelState, isSelected: Bool) -> String {
        let name = model.displayName
        switch state {
        case .notDownloaded:
            return self("card.download", ["name": name, "size": model.size > 0 ? ", \(bytes(model.size))" : ""])
        case .failed: return self("card.retry", ["name": name])
        case .downloaded, .updateAvailable: return self(isSelected ? "card.chosen" : "card.select", ["name": name])
        case .waiting, .downloading, .incompatible: return name
        }
    }

    /// The memory that a model needs; `nil` while it is not known.
    func memory(_ model: ModelInfo) -> String? {
        model.requiredMemory > 0 ? "\(bytes(model.requiredMemory)) RAM" : nil
    }

    /// The size of a model's download; `nil` while it is not known.
    func size(_ model: ModelInfo) -> String? { model.size > 0 ? bytes(model.size) : nil }

    /// The words beside a model's name.
    func badges(_ badges: [ModelBadge], _ model: ModelInfo) -> [String] {
        badges.map { word("badge", $0.rawValue) } + (model.format == .mlx ? ["MLX"] : [])
    }

    /// The version and the variant of a release.
    func release(_ release: ReleaseIdentity?) -> String {
        [release?.version.name, release?.variant?.name].compactMap(\.self).joined(separator: " ")
    }

    /// The button that brings an update.
    func update(_ row: LibraryRow) -> String? {
        guard let version = row.update?.version.description else { return nil }
        guard row.model.size > 0 else { return self("card.update.plain", ["version": version]) }
        return self("card.update", ["version": version, "size": bytes(row.model.size)])
    }
}
