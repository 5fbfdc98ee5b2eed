import Foundation
import HearthBase
import HearthClassification

/// How a picture becomes the input of a model: the options of Vision.
public enum PictureCrop: String, Sendable, Hashable, CaseIterable {
    /// The largest centred part with the proportions of the input.
    case centerCrop
    /// The whole picture inside the input, with its proportions.
    case scaleFit
    /// The whole picture stretched to the input.
    case scaleFill
}

/// A picture for a model: pixels, or a file that the system decodes.
enum ModelPicture: Sendable {
    /// Rows from top to bottom of one byte a pixel in grey, or of three: red, green, blue.
    case pixels([UInt8], width: Int, height: Int, isGrey: Bool)
    case file(Data)
}

/// A loaded Core ML model that classifies pictures.
protocol PictureModel: Sendable {
    /// The classes as the model names them; `nil` if it does not tell.
    var labels: [String]? { get }
    /// The size of the input in pixels.
    var inputWidth: Int { get }
    var inputHeight: Int { get }
    var isGrey: Bool { get }

    /// The classes with their confidences, in any order. Blocks.
    func classify(_ picture: ModelPicture, crop: PictureCrop) throws -> [(label: String, confidence: Double)]
}

/// Compiles and loads models.
protocol PictureModelCompiler: Sendable {
    /// Compiles a model of a file or folder into a new folder of the system's temporary files.
    func compile(_ model: Path) async throws -> Path

    /// Loads a compiled model.
    func load(_ compiled: Path) async throws -> any PictureModel
}
