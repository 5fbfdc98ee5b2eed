#if Llama
    import Foundation
    import HearthBase
    import HearthDelivery
    import HearthLlama

    /// Makes models that are too large for this device fit: a GGUF file in fewer bits, made on the device by llama.cpp.
    public struct QuantizingPreparer: ReleasePreparer {
        private static let engine = "llama.cpp"
        private let deviceMemory: UInt64
        private let fileSystem: any FileSystem

        /// - Parameter deviceMemory: the bytes a model may count on.
        public init(
            deviceMemory: UInt64 = DeviceMemory.read().usable, fileSystem: any FileSystem = LocalFileSystem()
        ) {
            self.deviceMemory = deviceMemory
            self.fileSystem = fileSystem
        }

        public func recipe(for release: InstalledRelease) async throws -> PreparationRecipe? {
            let receipt = release.receipt
            guard receipt.format == .gguf, let weights = release.weights,
                let file = receipt.files.first(where: { $0.role == .weights }),
                // The publisher knows better what it needs; and of a model in pieces llama.cpp would make one.
                !receipt.files.contains(where: { $0.role == .shard })
            else { return nil }
            // What sees for the model is in memory with it, and stays as it is.
            let projector = receipt.files.first { $0.role == .projector }?.size ?? 0
            let deviceMemory = deviceMemory > projector ? deviceMemory - projector : 0
            // Most models fit, and then not even the head is read.
            guard QuantizationChoice(size: file.size, parameterCount: 1, deviceMemory: deviceMemory) != nil else {
                return nil
            }
            let header = try await blocking { [fileSystem] in try GGUFHeader(file: weights, fileSystem: fileSystem) }
            guard header.splitCount == 1, let count = header.tensors?.parameterCount,
                let choice = QuantizationChoice(size: file.size, parameterCount: count, deviceMemory: deviceMemory)
            else { return nil }
            let name = choice.candidate.name
            let before = (header.quantization ?? "the file").uppercased()
            return PreparationRecipe(
                engine: Self.engine, engineVersion: LlamaQuantizer.version, settings: name,
                fileName: "\(receipt.identity.family)-\(name).gguf", expectedSize: choice.predictedSize,
                summary: "\(name.uppercased()), since \(before) does not fit the memory of this device")
        }

        public func speaks(for engine: String) -> Bool { engine == Self.engine }

        public func makesFit(_ release: Release) -> Bool {
            // The catalog's name of a variant is the kind of its weights, where it is known at all.
            QuantizationChoice(release, storedAs: release.identity.variant?.name, deviceMemory: deviceMemory) != nil
        }

        public func check(_ recipe: PreparationRecipe, of release: InstalledRelease) async throws {
            guard let weights = release.weights else { return }
            try await blocking { [fileSystem] in try LlamaQuantizer.check(weights, fileSystem: fileSystem) }
        }

        public func build(
            _ recipe: PreparationRecipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) async throws {
            guard let weights = release.weights, let kind = LlamaQuantizer.Target(rawValue: recipe.settings) else {
                throw FileError(errno: ENOENT, doing: "quantise", path: release.folder)
            }
            try await LlamaQuantizer.quantize(
                weights, to: target, as: kind, allowsRequantizing: true, progress: progress)
        }
    }
#endif
