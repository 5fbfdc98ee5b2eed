import CVision
import Foundation
import HearthBase

/// The contents of `classifier.json`: how pictures become the model's input, and what its output means.
///
/// ```json
/// { "format": 1,
///   "input": { "width": 64, "height": 64, "layout": "nchw", "channels": "grey", "mean": [127.5], "scale": [0.00784],
///              "margin": 0.1 },
///   "output": "logits", "temperature": 1.2, "thresholds": { "green": 0.9, "yellow": 0.6 },
///   "classListVersion": "v1", "canary": { "picture": "canary.png", "label": "4EBA" } }
/// ```
/// A number of the input is `(byte - mean) * scale`; `mean` and `scale` are one number, or one for each channel in the
/// order of `channels`. The same members may stand in the model's `metadata_props` under the key `classifier`, as text.
package struct ClassifierSettings: Sendable, Hashable {
    /// The order of the input's dimensions.
    package enum Layout: String, Sendable, Hashable, CaseIterable { case nchw, nhwc }

    /// The colours of the input.
    package enum Channels: String, Sendable, Hashable, CaseIterable {
        case rgb, bgr, grey

        var count: Int { self == .grey ? 1 : 3 }
    }

    /// The meaning of the model's output.
    package enum Output: String, Sendable, Hashable, CaseIterable { case logits, probabilities }

    /// A picture that the classifier must know.
    package struct Canary: Sendable, Hashable {
        package var picture: PathComponent
        package var label: String
    }

    /// The size of the input in pixels, 1...2048.
    package var width: Int
    package var height: Int
    package var layout = Layout.nchw
    package var channels = Channels.grey
    /// One number for each channel.
    package var mean: [Float] = [0]
    package var scale: [Float] = [1 / 255]
    /// The white margin around a character cut from a page, as a share of the character's side: 0...0.5.
    package var margin = 0.1
    package var output = Output.logits
    /// Divides the logits before the softmax; above 0.
    package var temperature = 1.0
    package var thresholds = RoutingThresholds()
    package var canary: Canary?
    /// The version of the list of classes that the model was trained on; `nil` if the publisher does not tell.
    package var classListVersion: String?

    /// The largest file, in bytes.
    package static let maximumBytes = 64 << 10

    /// The number of the input's values for one picture.
    var inputCount: Int { width * height * channels.count }

    /// The shape of an input of so many pictures.
    func shape(_ count: Int) -> [Int64] {
        let (n, c, h, w) = (Int64(count), Int64(channels.count), Int64(height), Int64(width))
        return layout == .nchw ? [n, c, h, w] : [n, h, w, c]
    }

    var input: hearth_picture_input {
        var input = hearth_picture_input()
        input.width = width
        input.height = height
        input.colours =
            switch channels {
            case .grey: HEARTH_GREY
            case .rgb: HEARTH_RGB
            case .bgr: HEARTH_BGR
            }
        input.is_interleaved = layout == .nhwc
        input.mean = (mean[0], mean[mean.count > 1 ? 1 : 0], mean[mean.count > 1 ? 2 : 0])
        input.scale = (scale[0], scale[scale.count > 1 ? 1 : 0], scale[scale.count > 1 ? 2 : 0])
        return input
    }

}

extension ClassifierSettings {
    /// Reads the file's bytes.
    /// - Parameter name: the file's name for messages.
    /// - Throws: `classifier-settings-unusable`.
    package init(_ data: Data, name: String) throws {
        guard data.count <= Self.maximumBytes else {
            throw Self.unusable(name, "", "it has more than \(Self.maximumBytes) bytes")
        }
        let document: JSONValue
        do {
            document = try JSONValue(parsing: data)
        } catch {
            throw Self.unusable(name, "", "it is not JSON", error)
        }
        do {
            self = try SettingsReader(document).settings()
        } catch {
            throw Self.unusable(name, error.field, error.reason)
        }
    }

    private static func unusable(
        _ name: String, _ field: String, _ reason: String, _ cause: (any Error)? = nil
    ) -> ClassificationError {
        ClassificationError(
            .unusableSettings, "\(name) cannot be used: \(field.isEmpty ? "" : "\(field) ")\(reason)",
            context: ErrorContext(
                file: name, field: field.isEmpty ? nil : field, remedy: "The publisher must correct it."),
            underlying: cause)
    }
}

/// Reads the members of `classifier.json`; unknown ones are ignored.
private struct SettingsReader {
    struct Problem: Error {
        var field: String
        var reason: String
    }

    let members: JSONMembers

    init(_ document: JSONValue) throws(Problem) {
        guard let members = document.members else { throw Problem(field: "", reason: "it is not an object") }
        self.members = members
    }

    func settings() throws(Problem) -> ClassifierSettings {
        guard try number(members, "format", "format", in: 1...1e9) == 1 else {
            throw Problem(field: "format", reason: "is not 1; a newer version of Hearth may read it")
        }
        guard let input = members["input"]?.members else { throw Problem(field: "input", reason: "must be an object") }
        let channels: ClassifierSettings.Channels = try choice(input, "channels", "input.channels")
        let canary = try canary()
        return ClassifierSettings(
            width: try side(input, "width"), height: try side(input, "height"),
            layout: try choice(input, "layout", "input.layout"), channels: channels,
            mean: try numbers(input, "mean", channels, in: -1e6...1e6),
            scale: try numbers(input, "scale", channels, in: -1e6...1e6),
            margin: try optional(input, "margin", "input.margin", in: 0...0.5) ?? 0.1,
            output: try choice(members, "output", "output"),
            temperature: try optional(members, "temperature", "temperature", in: 0.01...100) ?? 1,
            thresholds: try thresholds(), canary: canary, classListVersion: try listVersion())
    }

    private func listVersion() throws(Problem) -> String? {
        guard let value = members["classListVersion"] else { return nil }
        guard case .string(let text) = value, (1...64).contains(text.utf8.count) else {
            throw Problem(field: "classListVersion", reason: "must be a text of at most 64 bytes")
        }
        return text
    }

    private func thresholds() throws(Problem) -> RoutingThresholds {
        guard let value = members["thresholds"] else { return RoutingThresholds() }
        guard let values = value.members else { throw Problem(field: "thresholds", reason: "must be an object") }
        let usual = RoutingThresholds()
        let found = RoutingThresholds(
            green: try optional(values, "green", "thresholds.green", in: 0...1) ?? usual.green,
            yellow: try optional(values, "yellow", "thresholds.yellow", in: 0...1) ?? usual.yellow)
        guard found.yellow <= found.green else {
            throw Problem(field: "thresholds.yellow", reason: "is above thresholds.green")
        }
        return found
    }

    private func canary() throws(Problem) -> ClassifierSettings.Canary? {
        guard let value = members["canary"] else { return nil }
        guard case .string(let picture)? = value.members?["picture"], let name = PathComponent(picture) else {
            throw Problem(field: "canary.picture", reason: "must be the name of a file of the release")
        }
        guard case .string(let label)? = value.members?["label"], (1...64).contains(label.utf8.count) else {
            throw Problem(field: "canary.label", reason: "must be a class")
        }
        return ClassifierSettings.Canary(picture: name, label: ClassLabels.decoded(label))
    }

    private func side(_ values: JSONMembers, _ key: String) throws(Problem) -> Int {
        let value = try number(values, key, "input.\(key)", in: 1...2048)
        guard value == value.rounded() else { throw Problem(field: "input.\(key)", reason: "must be a whole number") }
        return Int(value)
    }

    private func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ values: JSONMembers, _ key: String, _ field: String
    ) throws(Problem) -> Value {
        if case .string(let text)? = values[key], let value = Value(rawValue: text) { return value }
        let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem(field: field, reason: "must be one of \(names)")
    }

    private func numbers(
        _ values: JSONMembers, _ key: String, _ channels: ClassifierSettings.Channels,
        in range: ClosedRange<Double>
    ) throws(Problem) -> [Float] {
        let field = "input.\(key)"
        guard case .array(let items)? = values[key] else {
            return [Float](repeating: Float(try number(values, key, field, in: range)), count: channels.count)
        }
        guard items.count == channels.count || items.count == 1 else {
            throw Problem(field: field, reason: "must have \(channels.count) numbers")
        }
        var numbers: [Float] = []
        for item in items { numbers.append(Float(try number([key: item], key, field, in: range))) }
        return numbers.count == channels.count ? numbers : [Float](repeating: numbers[0], count: channels.count)
    }

    private func optional(
        _ values: JSONMembers, _ key: String, _ field: String, in range: ClosedRange<Double>
    ) throws(Problem) -> Double? {
        values[key] == nil ? nil : try number(values, key, field, in: range)
    }

    private func number(
        _ values: JSONMembers, _ key: String, _ field: String, in range: ClosedRange<Double>
    ) throws(Problem) -> Double {
        guard case .number(let digits)? = values[key], let value = Double(digits), range.contains(value) else {
            throw Problem(field: field, reason: "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}
