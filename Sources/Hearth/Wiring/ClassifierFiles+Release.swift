import HearthBase
import HearthCatalog
import HearthClassification
import HearthDelivery
import HearthStore

extension ClassifierFiles {
    private static let settingsName = "classifier.json"

    /// The files of an installed release.
    /// - Parameter weights: the file to open.
    package init(_ release: InstalledRelease, weights: Path) {
        let files = release.receipt.files
        self.init(
            name: release.identity.description, model: weights,
            settings: files.first { $0.name.last.name == Self.settingsName }.map { release.folder.appending($0.name) },
            labels: files.first { $0.role == .labels }.map { release.folder.appending($0.name) },
            classCount: release.receipt.classes?.count, classListVersion: release.receipt.classes?.listVersion)
    }

    /// The files of a bundled release; `nil` without weights.
    package init?(_ release: BundledRelease) {
        guard let weights = release.weights else { return nil }
        self.init(
            name: release.identity.description, model: weights,
            settings: release.files.first { $0.name.last.name == Self.settingsName }?.path,
            labels: release.files.first { $0.role == .labels }?.path,
            classCount: release.release.classes?.count, classListVersion: release.release.classes?.listVersion)
    }

    /// Whether the publisher calls the release a classifier. Other models of the same format are not judged.
    var isDeclared: Bool { settings != nil || classCount != nil }
}
