import Foundation

/// Writes small ONNX models: a picture's darkest quadrant is its class.
///
/// The input is N x 1 x side x side with 1 for ink and 0 for paper. Class k is the logit `10 * ink share of quadrant k`;
/// the quadrants are upper left, upper right, lower left, lower right. Further classes have the logit `bias`.
package struct ONNXBuilder {
    package var side = 8
    package var classes = 4
    /// The logits of the fifth and later classes.
    package var bias: Float = -20
    package var opset = 13
    /// The batch in the input's shape; `nil` lets each request choose it.
    package var batch: Int?
    /// The operator that computes the logits; another name than `Gemm` makes a model that no engine runs.
    package var operatorName = "Gemm"
    package var metadata: [String: String] = [:]
    /// The path of a file with the weights; `nil` keeps them in the model.
    package var externalFile: String?

    package init() {}

    /// A settings file that fits the model.
    package static let settings = """
        { "format": 1, "output": "logits",
          "input": { "width": 8, "height": 8, "layout": "nchw", "channels": "grey", "mean": 255, "scale": -0.00392156862745098 } }
        """

    /// The bytes of a grey picture of `side` x `side` pixels with ink (0) in quadrants and paper (255) elsewhere.
    /// - Parameter ink: the ink of each quadrant, 0...1.
    package static func pixels(side: Int = 8, ink: [Double]) -> [UInt8] {
        (0..<side * side).map { place in
            UInt8((255 * (1 - ink[quadrant(of: place, side)])).rounded())
        }
    }

    /// The model's file.
    package var bytes: [UInt8] {
        var model = Message()
        model.integer(1, 8)
        model.text(2, "hearth tests")
        model.message(7, graph)
        model.message(8) { $0.integer(2, UInt64(opset)) }
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            model.message(14) { entry in
                entry.text(1, key)
                entry.text(2, value)
            }
        }
        return model.bytes
    }

    private static func quadrant(of place: Int, _ side: Int) -> Int {
        (place / side < side / 2 ? 0 : 2) + (place % side < side / 2 ? 0 : 1)
    }

    private var graph: Message {
        var graph = Message()
        graph.message(1) { node in
            node.text(1, "x")
            node.text(2, "flat")
            node.text(4, "Flatten")
            node.message(5) { attribute in
                attribute.text(1, "axis")
                attribute.integer(3, 1)
                attribute.integer(20, 2)
            }
        }
        graph.message(1) { node in
            for name in ["flat", "w", "b"] { node.text(1, name) }
            node.text(2, "y")
            node.text(4, operatorName)
        }
        graph.text(2, "quadrants")
        let share = Float(10) / Float(side * side / 4)
        let weights = (0..<side * side).flatMap { place in
            (0..<classes).map { $0 == Self.quadrant(of: place, side) ? share : 0 }
        }
        graph.message(5, tensor("w", [side * side, classes], weights))
        graph.message(5, tensor("b", [classes], (0..<classes).map { $0 < 4 ? 0 : bias }))
        graph.message(11, value("x", [batch, 1, side, side]))
        graph.message(12, value("y", [batch, classes]))
        return graph
    }

    private func tensor(_ name: String, _ dimensions: [Int], _ numbers: [Float]) -> Message {
        var tensor = Message()
        for dimension in dimensions { tensor.integer(1, UInt64(dimension)) }
        tensor.integer(2, 1)
        tensor.text(8, name)
        if let externalFile {
            tensor.message(13) { entry in
                entry.text(1, "location")
                entry.text(2, externalFile)
            }
            tensor.integer(14, 1)
        } else {
            tensor.data(
                9, numbers.flatMap { number in withUnsafeBytes(of: number.bitPattern.littleEndian, Array.init) })
        }
        return tensor
    }

    private func value(_ name: String, _ dimensions: [Int?]) -> Message {
        var value = Message()
        value.text(1, name)
        value.message(2) { type in
            type.message(1) { tensor in
                tensor.integer(1, 1)
                tensor.message(2) { shape in
                    for dimension in dimensions {
                        shape.message(1) { entry in
                            if let dimension { entry.integer(1, UInt64(dimension)) } else { entry.text(2, "N") }
                        }
                    }
                }
            }
        }
        return value
    }

    /// A message of protobuf.
    private struct Message {
        var bytes: [UInt8] = []

        mutating func integer(_ field: Int, _ value: UInt64) {
            append(UInt64(field) << 3)
            append(value)
        }

        mutating func data(_ field: Int, _ value: [UInt8]) {
            append(UInt64(field) << 3 | 2)
            append(UInt64(value.count))
            bytes += value
        }

        mutating func text(_ field: Int, _ value: String) { data(field, Array(value.utf8)) }

        mutating func message(_ field: Int, _ value: Message) { data(field, value.bytes) }

        mutating func message(_ field: Int, _ write: (inout Message) -> Void) {
            var value = Message()
            write(&value)
            message(field, value)
        }

        private mutating func append(_ value: UInt64) {
            var rest = value
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
    }
}
