#if canImport(CoreML) && canImport(Vision)
import CoreGraphics
import CoreML
import Foundation
import HearthBase
import HearthClassification
import Vision

extension CoreMLClassifier {
    /// Loads a model of a file or folder: `.mlpackage`, `.mlmodel`, or `.mlmodelc`, which is compiled already.
    /// - Parameters:
    ///   - folder: keeps the compiled model, such as a folder of the app's caches.
    ///   - crop: how pictures become the model's input.
    ///   - units: what computes.
    /// - Throws: ``ClassificationError``: `classifier-unreadable`, `classifier-unsupported`, `class-list-unusable`,
    ///   `classifier-not-ready` before the first unlock of the device, `classification-failed`; `FileError`;
    ///   `CancellationError`.
    public static func load(
        _ model: URL, caching folder: URL, crop: PictureCrop = .centerCrop, units: MLComputeUnits = .all
    ) async throws -> CoreMLClassifier {
        let models = CompiledModels(folder: Path(folder.path), compiler: CoreMLCompiler(units: units))
        return try await load(Path(model.path), name: model.lastPathComponent, crop: crop, from: models)
    }
}

private struct CoreMLCompiler: PictureModelCompiler {
    let units: MLComputeUnits

    func compile(_ model: Path) async throws -> Path { Path(try await MLModel.compileModel(at: model.url).path) }

    func load(_ compiled: Path) async throws -> any PictureModel {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = units
        return try VisionModel(try await MLModel.load(contentsOf: compiled.url, configuration: configuration))
    }
}

/// A model that Vision feeds with pictures. Vision allows requests of several threads for one model.
private final class VisionModel: PictureModel, @unchecked Sendable {
    let labels: [String]?
    let inputWidth: Int
    let inputHeight: Int
    let isGrey: Bool
    private let model: VNCoreMLModel

    init(_ model: MLModel) throws {
        let description = model.modelDescription
        let input = description.inputDescriptionsByName.values.lazy.compactMap(\.imageConstraint).first
        guard let input, description.predictedFeatureName != nil else {
            throw ClassificationError(.unsupportedModel, "the model is no classifier of pictures")
        }
        labels = description.classLabels?.map { "\($0)" }
        (inputWidth, inputHeight) = (input.pixelsWide, input.pixelsHigh)
        // The format of one component of 8 bits, `L008`.
        isGrey = input.pixelFormatType == 0x4C30_3038
        self.model = try VNCoreMLModel(for: model)
    }

    func classify(_ picture: ModelPicture, crop: PictureCrop) throws -> [(label: String, confidence: Double)] {
        let request = VNCoreMLRequest(model: model)
        request.imageCropAndScaleOption =
            switch crop {
            case .centerCrop: .centerCrop
            case .scaleFit: .scaleFit
            case .scaleFill: .scaleFill
            }
        try handler(picture).perform([request])
        guard let found = request.results as? [VNClassificationObservation] else {
            throw ClassificationError(.failed, "the model gave no classes")
        }
        return found.map { ($0.identifier, Double($0.confidence)) }
    }

    private func handler(_ picture: ModelPicture) throws -> VNImageRequestHandler {
        switch picture {
        case .file(let data): return VNImageRequestHandler(data: data)
        case .pixels(let pixels, let width, let height, let isGrey):
            let channels = isGrey ? 1 : 3
            guard let provider = CGDataProvider(data: NSData(data: Data(pixels))),
                let image = CGImage(
                    width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 8 * channels,
                    bytesPerRow: width * channels,
                    space: isGrey ? CGColorSpaceCreateDeviceGray() : CGColorSpaceCreateDeviceRGB(),
                    bitmapInfo: CGBitmapInfo(rawValue: 0), provider: provider, decode: nil, shouldInterpolate: true,
                    intent: .defaultIntent)
            else { throw ClassificationError(.failed, "the picture cannot be prepared") }
            return VNImageRequestHandler(cgImage: image)
        }
    }
}
#endif
