import HearthBase

/// The files of a classifier, and what its publisher promised of them.
package struct ClassifierFiles: Sendable, Hashable {
    /// The name for people, such as `hearth-hanzi@1.0.0`.
    package var name: String
    /// The ONNX file.
    package var model: Path
    /// `classifier.json`; `nil` if the model describes its input itself.
    package var settings: Path?
    /// The list of classes; `nil` if the model has it in itself.
    package var labels: Path?
    /// The number of classes by the manifest (`num_classes`).
    package var classCount: Int?
    /// The version of their list by the manifest (`class_list_version`).
    package var classListVersion: String?

    /// The files of a release.
    package init(
        name: String, model: Path, settings: Path?, labels: Path?, classCount: Int? = nil,
        classListVersion: String? = nil
    ) {
        (self.name, self.model, self.settings, self.labels) = (name, model, settings, labels)
        (self.classCount, self.classListVersion) = (classCount, classListVersion)
    }

    /// The usual names of a list of classes.
    package static let listNames: [StaticString] = ["classes.txt", "labels.txt", "classes.json", "labels.json"]

    /// A model file on this machine, with `classifier.json` and a list of classes beside it, if they exist. Blocks.
    package init(local model: Path, fileSystem: any FileSystem = LocalFileSystem()) throws {
        let folder = model.parent
        func present(_ path: Path) throws -> Path? { try fileSystem.status(at: path) == nil ? nil : path }
        let lists = try Self.listNames.compactMap { try present(folder.appending($0)) }
        self.init(
            name: model.lastComponent, model: model, settings: try present(folder.appending("classifier.json")),
            labels: lists.first)
    }

    /// The folder of the publisher's picture.
    var pictureFolder: Path { (settings ?? model).parent }

    /// The files that a load opens, for a process that opens no others. Reads nothing of the model: if it describes itself,
    /// these are all pictures beside it. Blocks.
    /// - Throws: what the load throws for the same: ``ClassificationError`` with `classifier-settings-unusable`; `FileError`.
    package func opened(fileSystem: any FileSystem = LocalFileSystem()) throws -> [Path] {
        let files = [model, settings, labels].compactMap(\.self)
        guard let settings else {
            let names = try fileSystem.contents(of: pictureFolder).filter(Self.isPicture)
            return files + names.prefix(64).compactMap { PathComponent($0).map(pictureFolder.appending) }
        }
        let data = try fileSystem.contents(ofFile: settings, limit: ClassifierSettings.maximumBytes)
        let known = try ClassifierSettings(data, name: settings.lastComponent)
        return files + [known.canary.map { pictureFolder.appending($0.picture) }].compactMap(\.self)
    }

    private static func isPicture(_ name: String) -> Bool {
        ["png", "jpg", "jpeg", "webp", "bmp", "gif", "tif", "tiff"].contains { name.lowercased().hasSuffix(".\($0)") }
    }
}
